package daemon

import (
	"context"
	"encoding/json"

	"github.com/pyplug/pyplug/runner/wire"
)

// attacher is a session that another host can attach to.
type attacher interface {
	// Attach says how, in JSON. The error is a [*hook.Error].
	Attach() (json.RawMessage, error)
}

// Attach says how another host attaches to the plugin, in JSON, as the session
// does.
func (c *Client) Attach(ctx context.Context) (json.RawMessage, error) {
	var how json.RawMessage
	err := c.message(ctx, message{Do: doAttach}, &how)
	return how, err
}

// News is what [Options.Note] says just now: what a caller should know, such as
// that the plugin's file has changed; empty when there is none.
func (c *Client) News(ctx context.Context) (string, error) {
	var text string
	err := c.message(ctx, message{Do: doNews}, &text)
	return text, err
}

// Leftover goes on with what the warm way left, see [Adopt]; nil when it left
// nothing, and from the second time on.
func Leftover() (*Client, error) {
	left := wire.Take()
	if left == nil {
		return nil, nil
	}
	return Adopt(left)
}
