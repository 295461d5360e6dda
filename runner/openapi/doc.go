// Package openapi describes the hooks of a plugin as an HTTP API, in OpenAPI 3.1. Clients are generated from
// such a document, and tools show and test the API with it.
//
//  1. [Document] makes the document. Each hook is a path of its own with the operation POST, because each
//     has arguments of its own.
//  2. A hook's JSON Schemas are parts of the document. Their $defs become components, and each $ref follows.
//  3. The 200 response promises only what is sure: without a type that is known, a hook may also answer with bytes
//     or with lines.
//  4. The responses that are errors are components, one for each status. They share the schema Failure.
//
// The package knows no transport and sends no request. Its caller says which statuses and which security the API has.
package openapi
