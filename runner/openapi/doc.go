// Package openapi describes the hooks of a plugin as an HTTP API, in OpenAPI 3.1. Users generate
// clients from such a document, and tools show and test the API with it.
//
//  1. [Document] makes the document. Each hook is a path with the operation POST, because each hook
//     has its own arguments.
//  2. A hook's JSON Schemas become parts of the document. Their $defs become components, to which
//     each $ref leads.
//  3. The 200 response promises only facts: if the type of a result is unknown, the hook may also
//     answer with bytes or with lines.
//  4. The error responses are components, one for each status. They share the schema Failure.
//
// The package does not know transports and sends no requests. Its caller says which statuses and
// which security the API has.
package openapi
