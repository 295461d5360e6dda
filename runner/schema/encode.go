package schema

// AppendWords appends words to dst as a JSON array, for a program that decides by
// their parameters what they are. Each is an object: "name", if it has one; "text",
// and "value" if the rule of [Value] makes of it anything else than that text;
// "verbatim" if it is text whatever it looks like. JSON has a "value" alone. Bytes
// that are not UTF-8 are written as [Quote] does.
func AppendWords(dst []byte, words []Word) []byte {
	dst = append(dst, '[')
	for i, w := range words {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		if w.Name != "" {
			dst = append(AppendQuote(append(dst, `"name":`...), w.Name), ',')
		}
		if w.Form == JSON {
			dst = append(escapeInvalid(append(dst, `"value":`...), w.Value), '}')
			continue
		}
		text := Quote(w.Value)
		dst = append(append(dst, `"text":`...), text...)
		if value := Value(w.Value); string(value) != string(text) {
			dst = append(append(dst, `,"value":`...), value...)
		}
		if w.Form != Plain {
			dst = append(dst, `,"verbatim":true`...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
