package cloud

import (
	"strings"
	"testing"
	"time"
)

// TestCheckedTakesWhatTheEncodersMake: byte for byte, under each spelling of events and memos.
func TestCheckedTakesWhatTheEncodersMake(t *testing.T) {
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	for _, names := range []string{"both", "sample", "schema"} {
		w := DefaultWire()
		w.EventNames = names
		event, err := w.EncodeEvent(DiagnosticEvent{ObjectID: "6f9619ff-8b86-d011-b42d-00c04fc964ff", Rule: "High <level>", Note: "a & b", Start: at, End: at})
		if err != nil {
			t.Fatal(err)
		}
		set := ValueSet{Code: w.Codes[0], Values: []Value{{412, at}, {413, at.Add(time.Hour)}}}
		tags, err := w.EncodeTagValues(set)
		if err != nil {
			t.Fatal(err)
		}
		targets, _, err := w.EncodeTargets(set)
		if err != nil {
			t.Fatal(err)
		}
		memo, err := w.EncodeMemo(Memo{"valve replaced", "ann@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		for op, body := range map[Operation][]byte{SaveDiagnosticEvents: event, SaveObjectTagValues: tags, SaveProductionTargets: targets, AddDeviceMemo: memo} {
			if got, err := w.Checked(op, "4711", body); err != nil || string(got) != string(body) {
				t.Errorf("%s of %s: %v; it became %s", op, body, err, got)
			}
		}
	}
}

// TestCheckedNamesTheField: each body differs in one thing from one that is taken.
func TestCheckedNamesTheField(t *testing.T) {
	const event = `{"startTimeString":"2026-03-01T07:00:00","endTimeString":"2026-03-01T08:00:00","objectGuid":"6f9619ff-8b86-d011-b42d-00c04fc964ff","objectTypeID":"Device","ruleName":"R","note":""}`
	const set = `{"dataClassificationCode":"Production Target Oil","values":[{"value":1,"timestamp":"2026-03-01T07:00:00-06:00"}]}`
	const memo = `{"text":"hello"}`
	w := DefaultWire()
	w.MemoText, w.MemoEmail = "text", "email"
	for _, x := range []struct {
		op                  Operation
		address, body, want string
	}{
		{SaveRunTickets, "", `{"ticketNumber":"T-1"}`, "SaveRunTickets"},
		{QueryDevices, "", memo, "QueryDevices"},
		{SaveDiagnosticEvents, "", strings.Replace(event, "T07:00:00", " 7", 1), "startTimeString"},
		{SaveDiagnosticEvents, "", strings.Replace(event, "2026-03-01T08", "0000-03-01T08", 1), "endTimeString"},
		{SaveDiagnosticEvents, "", strings.Replace(event, "T08", "T06", 1), "endTimeString"},
		{SaveDiagnosticEvents, "", strings.Replace(event, "6f9619ff", "6f9619fg", 1), "objectGuid"},
		{SaveDiagnosticEvents, "", strings.Replace(event, `"Device"`, `""`, 1), "objectTypeID"},
		{SaveDiagnosticEvents, "", strings.Replace(event, `"note"`, `"objectID":"another","note"`, 1), "objectID"},
		{SaveDiagnosticEvents, "", strings.Replace(event, `"R"`, `" "`, 1), "ruleName"},
		{SaveDiagnosticEvents, "", strings.Replace(event, `"R"`, `["R"]`, 1), "ruleName"},
		{SaveDiagnosticEvents, "", strings.Replace(event, `""`, `"`+strings.Repeat("n", 100_000)+`"`, 1), "note"},
		{SaveDiagnosticEvents, "", strings.Replace(event, `{`, `{"ID":[1],`, 1), "ID"},
		{SaveDiagnosticEvents, "", strings.Replace(event, `{`, `{"bbl":1,`, 1), "bbl"},
		{SaveDiagnosticEvents, "", event + event, "follows"},
		{SaveObjectTagValues, "", set, "address"},
		{SaveObjectTagValues, "w", strings.Replace(set, "Oil", "Oyl", 1), "dataClassificationCode"},
		{SaveProductionTargets, "w", strings.Replace(set, "Production Target Oil", "", 1), "dataClassificationCode"},
		{SaveProductionTargets, "w", `{"dataClassificationCode":"C","values":[]}`, "values"},
		{SaveProductionTargets, "w", strings.Replace(set, `:1,`, `:1.5,`, 1), "values.value"},
		{SaveProductionTargets, "w", strings.Replace(set, "-06:00", "", 1), "values[0].timestamp"},
		{AddDeviceMemo, "..", memo, "address"},
		{AddDeviceMemo, "1", `{"text":"  "}`, "text"},
		{AddDeviceMemo, "1", `{"text":"a","email":"nobody"}`, "email"},
		{AddDeviceMemo, "1", `{"text":"a","to":"b"}`, "to"},
		{AddDeviceMemo, "1", `{"text":1}`, "text"},
		{AddDeviceMemo, "1", `["text"]`, "array"},
		{AddDeviceMemo, "1", ``, "record"},
	} {
		if got, err := w.Checked(x.op, x.address, []byte(x.body)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s of %q became %q with %v, want an error about %s", x.op, x.body, got, err, x.want)
		}
	}
}
