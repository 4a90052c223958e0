package measure

import "embed"

// Statement is the text of sql/NAME.sql among the embedded files.
func Statement(files embed.FS, name string) string {
	text, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // they are embedded
	}
	return string(text)
}
