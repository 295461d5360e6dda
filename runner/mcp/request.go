package mcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// longestMessage is the size of the text of a progress notification in bytes.
	longestMessage = 1000
	// progressEvery is the interval of progress notifications while the plugin starts.
	progressEvery = time.Second
)

// request is a request that has not been answered.
type request struct {
	message
	s       *Server
	session any // identifies the request together with the id, or nil if it cannot be canceled
	// isStateless says that the client may only get notifications of the request itself.
	isStateless bool
	opened      func(version string) // called when initialize has chosen a version
	send        func(text []byte)    // sends a notification of the request
	reply       func(answer []byte)  // answer is nil if there is no answer

	ctx      context.Context
	cancel   context.CancelCauseFunc
	progress int  // number of notifications sent
	dropped  bool // the client canceled it; protected by the server's mu
}

func (r *request) name() requestName { return requestName{r.session, string(r.ID)} }

// serve answers the request.
func (r *request) serve() {
	defer r.cancel(nil)
	switch r.method {
	case "initialize":
		r.initialize()
	case "ping":
		r.result()
	case "server/discover":
		r.result("supportedVersions", []byte(`["`+modern+`"]`), "capabilities", []byte(following), "ttlMs", 0, "cacheScope", "private")
	case "subscriptions/listen":
		r.listen()
	case "tools/list":
		r.list()
	default:
		r.call()
	}
}

// answer answers the request, unless the client has canceled it.
func (r *request) answer(text []byte) {
	if r.s.finished(r) {
		text = nil
	}
	r.reply(text)
}

// result answers with a result. pairs are the arguments of [object].
func (r *request) result(pairs ...any) {
	if r.isModern {
		pairs = append([]any{"resultType", "complete"}, append(pairs, "_meta", object(serverKey, r.s.info()))...)
	}
	r.answer(object("jsonrpc", "2.0", "id", r.ID, "result", object(pairs...)))
}

// fail answers with a protocol error.
func (r *request) fail(err *protocolError) { r.answer(failure(r.ID, err)) }

// The capabilities of a server that notifies clients of changes, and of one that does not.
const (
	following = `{"tools":{"listChanged":true}}`
	still     = `{"tools":{}}`
)

// initialize begins a session.
func (r *request) initialize() {
	var params struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	err := read(r.Params, &params, invalidParams, "params", "an object with a text as its protocolVersion")
	if err == nil && params.ProtocolVersion == "" {
		err = fault(invalidParams, "protocolVersion is missing, expected a text")
	}
	if err != nil {
		r.fail(err)
		return
	}
	version, capabilities := params.ProtocolVersion, following
	if !slices.Contains(legacy, version) {
		version = legacy[0] // the newest version
	}
	if r.isStateless {
		capabilities = still
	}
	r.opened(version)
	r.result(r.s.instructed("protocolVersion", version, "capabilities", []byte(capabilities), "serverInfo", r.s.info())...)
}

// listen notifies the client of changes, until the client cancels the request or the server ends.
func (r *request) listen() {
	var params struct {
		Notifications struct {
			ToolsListChanged bool `json:"toolsListChanged"`
		} `json:"notifications"`
	}
	if err := read(r.Params, &params, invalidParams, "params", "an object with a filter as its notifications"); err != nil {
		r.fail(err)
		return
	}
	changed, filter := make(chan struct{}, 1), []byte("{}")
	if params.Notifications.ToolsListChanged {
		filter = object("toolsListChanged", true)
		defer r.s.listen(func() {
			select {
			case changed <- struct{}{}:
			default: // a notification is pending already
			}
		})()
		r.s.assumeListed()
	}
	meta := object(subscriptionKey, r.ID)
	r.send(notification("subscriptions/acknowledged", object("_meta", meta, "notifications", filter)))
	for {
		select {
		case <-changed:
			r.send(notification("tools/list_changed", object("_meta", meta)))
			continue
		case <-r.s.ending:
		case <-r.ctx.Done():
		}
		r.answer(object("jsonrpc", "2.0", "id", r.ID, "result", object("resultType", "complete", "_meta", meta)))
		return
	}
}

// plugin returns the plugin when it is ready. If the client requested progress, plugin notifies it
// during the wait.
func (r *request) plugin() (p Plugin, err error) {
	if r.progressToken() == nil {
		return r.s.o.Plugin(r.ctx)
	}
	done := make(chan struct{})
	go func() { // ends with the start or with r.ctx
		defer close(done)
		p, err = r.s.o.Plugin(r.ctx)
	}()
	for !hook.Within(done, progressEvery) {
		r.notify("the plugin is starting")
	}
	return p, err
}

// notify sends a progress notification if the client requested it.
func (r *request) notify(text string) {
	token := r.progressToken()
	if token == nil || r.ctx.Err() != nil {
		return
	}
	r.progress++
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "…"
	}
	r.send(notification("progress", object("progressToken", token, "progress", r.progress, "message", text)))
}
