package export

import (
	"archive/zip"
	"encoding/csv"
	"io"

	"linerate/internal/model/record"
)

// CSV writes one table (RFC 4180, with plain line feeds).
func CSV(w io.Writer, table Table, run *record.Run) error {
	out := csv.NewWriter(w)
	return out.WriteAll(table.Rows(run)) // and flushes
}

// Zip writes every table as a file RUN/TABLE.csv of an archive.
func Zip(w io.Writer, run *record.Run) error {
	archive := zip.NewWriter(w)
	for _, table := range Tables {
		file, err := archive.CreateHeader(&zip.FileHeader{
			Name: run.ID + "/" + table.Name + ".csv", Method: zip.Deflate, Modified: run.Started.UTC(),
		})
		if err != nil {
			return err
		}
		if err := CSV(file, table, run); err != nil {
			return err
		}
	}
	return archive.Close()
}
