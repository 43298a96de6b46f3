package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Checked reads the body of a record that somebody else has made, an event, value set or memo, and gives it as the encoders
// write it. The error names the field that is wrong.
func (w Wire) Checked(op Operation, address string, body []byte) ([]byte, error) {
	wellOrDevice := func(what string) error {
		if strings.Trim(address, ". ") == "" {
			return fmt.Errorf("address: %q is no %s's id", address, what)
		}
		return nil
	}
	switch op {
	case SaveDiagnosticEvents:
		return w.checkedEvent(body)
	case SaveObjectTagValues, SaveProductionTargets:
		if err := wellOrDevice("well"); err != nil {
			return nil, err
		}
		return w.checkedSet(op, body)
	case AddDeviceMemo:
		if err := wellOrDevice("device"); err != nil {
			return nil, err
		}
		return w.checkedMemo(body)
	}
	return nil, fmt.Errorf("no record of others goes to %s", op)
}

func (w Wire) checkedEvent(body []byte) ([]byte, error) {
	var e eventBody
	if err := strictly(body, &e); err != nil {
		return nil, err
	}
	start, err1 := time.Parse(eventLayout, e.Start)
	end, err2 := time.Parse(eventLayout, e.End)
	object, kind := e.ObjectGUID, e.ObjectTypeID
	if object == "" {
		object, kind = e.ObjectID, e.ObjectType
	}
	id := bytes.TrimSpace(e.ID)
	for _, x := range []struct {
		bad   bool
		wrong string
	}{
		{err1 != nil || !validTime(start), fmt.Sprintf("startTimeString: %q is no time such as 2026-03-01T07:00:00", e.Start)},
		{err2 != nil || !validTime(end), fmt.Sprintf("endTimeString: %q is no time such as 2026-03-01T07:00:00", e.End)},
		{end.Before(start), "endTimeString: it ends before it begins"},
		{!isGUID(object), fmt.Sprintf("objectGuid: %q is not a GUID", object)},
		{kind == "", "objectTypeID: it is missing"},
		{e.ObjectGUID != "" && e.ObjectID != "" && (e.ObjectGUID != e.ObjectID || e.ObjectTypeID != e.ObjectType), "objectID: it is another object than objectGuid, or another type"},
		{strings.TrimSpace(e.RuleName) == "", "ruleName: it is missing"},
		{e.Note != cut(e.Note, w.NoteMax), fmt.Sprintf("note: it is longer than %d characters", w.NoteMax)},
		{len(id) > 0 && strings.ContainsRune("[{tf", rune(id[0])), "ID: it is neither a text nor a number"},
	} {
		if x.bad {
			return nil, errors.New(x.wrong)
		}
	}
	return encode(e)
}

// setBody is a set as somebody else may write it.
type setBody struct {
	Code   string `json:"dataClassificationCode"`
	Values []struct {
		Value     int64  `json:"value"`
		Timestamp string `json:"timestamp"`
	} `json:"values"`
}

func (w Wire) checkedSet(op Operation, body []byte) ([]byte, error) {
	var s setBody
	if err := strictly(body, &s); err != nil {
		return nil, err
	}
	switch {
	case s.Code == "":
		return nil, errors.New("dataClassificationCode: it is missing")
	case op == SaveObjectTagValues && !slices.Contains(w.Codes, s.Code):
		return nil, fmt.Errorf("dataClassificationCode: %q is not one of the service's; use %s", s.Code, quoted(w.Codes))
	case len(s.Values) == 0:
		return nil, errors.New("values: there is none")
	}
	for i, v := range s.Values {
		if at, err := time.Parse(valueLayout, v.Timestamp); err != nil || !validTime(at) {
			return nil, fmt.Errorf("values[%d].timestamp: %q is no time such as 2026-03-01T07:00:00-06:00", i, v.Timestamp)
		}
	}
	return encode(s)
}

func (w Wire) checkedMemo(body []byte) ([]byte, error) {
	raw, fields := map[string]json.RawMessage{}, map[string]string{}
	if err := strictly(body, &raw); err != nil {
		return nil, err
	}
	for name, text := range raw {
		if name != w.MemoText && name != w.MemoEmail {
			return nil, fmt.Errorf("%s: a memo has no such field; it has %s and %s", name, w.MemoText, w.MemoEmail)
		}
		one := ""
		if json.Unmarshal(text, &one) != nil {
			return nil, fmt.Errorf("%s: it is no text", name)
		}
		fields[name] = one
	}
	b, err := w.EncodeMemo(Memo{Text: fields[w.MemoText], Email: fields[w.MemoEmail]})
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", w.MemoText, w.MemoEmail, err)
	}
	return b, nil
}

// strictly reads one JSON value and nothing behind it, without fields that the shape has not.
func strictly(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a %s stands there, where %s is wanted", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return fmt.Errorf("it is no such record: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the record")
	}
	return nil
}
