package grpcplugin

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// askLimit is what a plugin has to go when it was asked by the Shutdown RPC.
const askLimit = time.Second

const shutdownMethod = "/plugin.GRPCController/Shutdown"

// Stop asks the plugin to go, where it serves that, closes the connection, and
// walks proc's ladder. It returns when the tree is gone. See [hook.Instance].
func (i *Instance) Stop(ctx context.Context) error {
	i.begun.Do(func() {
		i.mu.Lock()
		i.stopping = !i.gone()
		i.asking = i.stopping
		i.mu.Unlock()
		i.process.out.stop()
		go i.bid() // ends within askLimit
	})
	select {
	case <-i.farewell:
	case <-ctx.Done():
	}
	i.process.proc.Stop(ctx, nil)
	<-i.done
	return nil
}

// bid asks the plugin to go, waits as long as it may take over that, and closes
// the connection.
func (i *Instance) bid() {
	defer close(i.farewell)
	defer i.conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	go func() { // ends with the context
		select {
		case <-i.process.proc.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	// The messages are empty on both sides, whatever they are called.
	err := i.conn.Invoke(ctx, shutdownMethod, new(emptypb.Empty), new(emptypb.Empty), grpc.WaitForReady(false))
	if err != nil && ctx.Err() == nil && !i.gone() {
		i.cfg.debug("grpc", "shutdown: "+err.Error())
		if !lostConnection(err) {
			i.mu.Lock()
			i.asking = false
			i.mu.Unlock()
			return
		}
	}
	// It said yes, or went so fast that it did not come to say so.
	select {
	case <-i.process.proc.Done():
	case <-ctx.Done():
	}
}
