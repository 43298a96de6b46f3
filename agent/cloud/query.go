package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DeviceQuery filters QueryDevices (interface specification 4.7). The zero value asks for all.
type DeviceQuery struct {
	IDs                []string // when given, the service ignores the other filters
	Identifier         string
	Name               string
	ExternalID         string
	OrganizationID     string
	TextMatch          string   // Exact, Contains, StartsWith, EndsWith, DoesNotContain, DoesNotMatch; empty: Exact
	Include            []string // attributes, commInfo, geo, tags
	AttributeSchemaIDs []string // which attributes, with Include attributes
	Codes              []string // which tags, with Include tags
	Page               int      // from 1; 0: the first
	PageSize           int      // 0: the service's choice
}

// EventQuery filters GetEvents (interface specification 4.9).
type EventQuery struct {
	Type           string    // Alarm, Diagnostic or DataQuality
	Start          time.Time // inclusive
	End            time.Time // exclusive
	TimeQueryType  string    // EventStart, EventEnd, Created, Modified, EventAcknowledged; empty: EventStart
	ObjectID       string    // GUID; empty: all objects
	ObjectType     string    // Device or Well; needed with ObjectID
	OrganizationID string    // GUID; empty: all organizations
	Page           int       // from 1; 0: the first
	PageSize       int       // 0: the service's 400
}

// Device has the fields that Wire.Devices finds. Raw has all of them.
type Device struct {
	ID             string          `json:"id"`
	Identifier     string          `json:"identifier"`
	Name           string          `json:"name"`
	ExternalID     string          `json:"external_id"`
	OrganizationID string          `json:"organization_id"`
	Raw            json.RawMessage `json:"raw"`
}

// Event is a stored event, gauger's or another's, as GetEvents shows it: the fields that Wire.Events finds; times are the service's texts. Raw has all of them.
type Event struct {
	ID         string          `json:"id"`
	Start      string          `json:"start"`
	End        string          `json:"end"`
	ObjectID   string          `json:"object_id"`
	ObjectType string          `json:"object_type"`
	Rule       string          `json:"rule"`
	Note       string          `json:"note"`
	Raw        json.RawMessage `json:"raw"`
}

// Page is one page of devices or events. Odd are the places, from 0, of elements that could not be read as one; the others are no
// worse for it. Raw is the answer as it came, also when its shape was not understood.
type Page[E any] struct {
	Items []E
	Odd   []int
	Raw   []byte

	elements []json.RawMessage // of Items
}

// mostPages ends a query whose service never stops giving pages.
const mostPages = 10000

// QueryDevices gets one page. An answer of another shape gives its Raw with ErrShape as the cause.
func (c *Client) QueryDevices(ctx context.Context, q DeviceQuery) (Page[Device], error) {
	query, err := q.values()
	if err != nil {
		return Page[Device]{}, fmt.Errorf("querying devices: %w", err)
	}
	return fetchPage(ctx, c, request{op: QueryDevices, query: query}, c.wire.readDevices)
}

// AllDevices gives every page from q.Page on to each, until an empty, short or repeated page. A page of another
// shape is given too, and ends it with ErrShape; so does an error of each.
func (c *Client) AllDevices(ctx context.Context, q DeviceQuery, each func(Page[Device]) error) error {
	return eachPage(q.Page, each, func(page int) (Page[Device], error) {
		q.Page = page
		return c.QueryDevices(ctx, q)
	})
}

// GetEvents gets one page. An answer of another shape gives its Raw with ErrShape as the cause: whether there
// are events is then unknown.
func (c *Client) GetEvents(ctx context.Context, q EventQuery) (Page[Event], error) {
	query, err := q.values(c.wire.RangeLayout)
	if err != nil {
		return Page[Event]{}, fmt.Errorf("getting events: %w", err)
	}
	return fetchPage(ctx, c, request{op: GetEvents, arg: q.Type, query: query}, c.wire.readEvents)
}

// AllEvents gives every page from q.Page on to each; see AllDevices.
func (c *Client) AllEvents(ctx context.Context, q EventQuery, each func(Page[Event]) error) error {
	return eachPage(q.Page, each, func(page int) (Page[Event], error) {
		q.Page = page
		return c.GetEvents(ctx, q)
	})
}

func fetchPage[E any](ctx context.Context, c *Client, r request, read func([]byte) (Page[E], error)) (Page[E], error) {
	raw, err := c.fetch(ctx, r)
	if err != nil {
		return Page[E]{Raw: raw}, err
	}
	page, err := read(raw)
	page.Raw = raw
	return page, err
}

// eachPage gets pages until one is empty, was seen before, or is shorter than the first. The size that was asked
// for does not tell a short page, since the service may have a limit of its own.
func eachPage[E any](first int, each func(Page[E]) error, get func(page int) (Page[E], error)) error {
	seen := map[[32]byte]bool{}
	full := 0
	first = max(first, 1)
	for page := first; page < first+mostPages; page++ {
		got, err := get(page)
		if err != nil {
			if len(got.Raw) > 0 {
				err = errors.Join(err, each(got))
			}
			return err
		}
		sum, size := sha256.Sum256(array(got.elements)), len(got.Items)+len(got.Odd)
		if seen[sum] || size == 0 && page > first {
			return nil
		}
		if err := each(got); err != nil {
			return err
		}
		if size == 0 || size < full {
			return nil
		}
		seen[sum], full = true, max(full, size)
	}
	return fmt.Errorf("there are more than %d pages; ask for larger pages or less", mostPages)
}

func (q DeviceQuery) values() (url.Values, error) {
	if q.TextMatch != "" && !slices.Contains([]string{"Exact", "Contains", "StartsWith", "EndsWith", "DoesNotContain", "DoesNotMatch"}, q.TextMatch) {
		return nil, fmt.Errorf("text match %q is not known; use Exact, Contains, StartsWith, EndsWith, DoesNotContain or DoesNotMatch", q.TextMatch)
	}
	for _, i := range q.Include {
		if !slices.Contains([]string{"attributes", "commInfo", "geo", "tags"}, i) {
			return nil, fmt.Errorf("%q cannot be included; use attributes, commInfo, geo or tags", i)
		}
	}
	v := url.Values{}
	lists := [...]struct {
		name string
		list []string
	}{{"deviceIds", q.IDs}, {"include", q.Include}, {"attributeSchemaIds", q.AttributeSchemaIDs}, {"dataClassificationCodes", q.Codes}}
	for _, l := range lists {
		if len(l.list) > 0 {
			v.Set(l.name, strings.Join(l.list, ","))
		}
	}
	for _, id := range append(slices.Clone(q.IDs), q.AttributeSchemaIDs...) {
		if id == "" || strings.Contains(id, ",") {
			return nil, fmt.Errorf("%q is no id: it is empty or has a comma", id)
		}
	}
	put(v, "deviceIdentifier", q.Identifier)
	put(v, "deviceName", q.Name)
	put(v, "externalId", q.ExternalID)
	put(v, "organizationId", q.OrganizationID)
	put(v, "textMatchStyle", q.TextMatch)
	return v, paging(v, q.Page, q.PageSize)
}

func (q EventQuery) values(layout string) (url.Values, error) {
	one := func(what, have string, allowed ...string) error {
		if !slices.Contains(allowed, have) {
			return fmt.Errorf("%s %q is not known; use %s", what, have, strings.Join(allowed, ", "))
		}
		return nil
	}
	errs := []error{one("event type", q.Type, "Alarm", "Diagnostic", "DataQuality")}
	if q.TimeQueryType != "" {
		errs = append(errs, one("time query type", q.TimeQueryType, "EventStart", "EventEnd", "Created", "Modified", "EventAcknowledged"))
	}
	if q.ObjectID != "" || q.ObjectType != "" {
		errs = append(errs, one("object type", q.ObjectType, "Device", "Well"))
	}
	for _, id := range [...]string{q.ObjectID, q.OrganizationID} {
		if id != "" && !isGUID(id) {
			errs = append(errs, fmt.Errorf("%q is not a GUID", id))
		}
	}
	if !validTime(q.Start) || !validTime(q.End) || !q.Start.Before(q.End) {
		errs = append(errs, errors.New("the range needs a start and a later end"))
	}
	v := url.Values{"startTime": {q.Start.UTC().Format(layout)}, "endTime": {q.End.UTC().Format(layout)}}
	put(v, "timeQueryType", q.TimeQueryType)
	put(v, "objectId", q.ObjectID)
	put(v, "objectType", q.ObjectType)
	put(v, "organizationId", q.OrganizationID)
	return v, errors.Join(append(errs, paging(v, q.Page, q.PageSize))...)
}

func put(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func paging(v url.Values, page, size int) error {
	if page < 0 || size < 0 {
		return errors.New("page and page size count from 1")
	}
	if page > 0 {
		v.Set("pageNumber", strconv.Itoa(page))
	}
	if size > 0 {
		v.Set("pageSize", strconv.Itoa(size))
	}
	return nil
}

// readDevices reads an answer of QueryDevices, and passes over elements without an id where one is expected. A list of
// nothing else is ErrShape.
func (w Wire) readDevices(body []byte) (Page[Device], error) {
	p := w.Devices
	return readElements("devices", "a device has no id, identifier or name", body, p.List, func(raw json.RawMessage) (Device, bool) {
		d := Device{
			ID: text(raw, p.ID), Identifier: text(raw, p.Identifier), Name: text(raw, p.Name),
			ExternalID: text(raw, p.ExternalID), OrganizationID: text(raw, p.OrganizationID), Raw: raw,
		}
		return d, d.ID != "" || d.Identifier != "" || d.Name != ""
	})
}

// readEvents reads an answer of GetEvents, and passes over elements without rule and start, which may be no events. A list of
// nothing else is ErrShape.
func (w Wire) readEvents(body []byte) (Page[Event], error) {
	p := w.Events
	return readElements("events", "an event has neither rule nor start", body, p.List, func(raw json.RawMessage) (Event, bool) {
		e := Event{
			ID: text(raw, p.ID), Start: text(raw, p.Start), End: text(raw, p.End), ObjectID: text(raw, p.ObjectID),
			ObjectType: text(raw, p.ObjectType), Rule: text(raw, p.Rule), Note: text(raw, p.Note), Raw: raw,
		}
		return e, e.Rule != "" || e.Start != ""
	})
}

// readElements reads each element of the list that a setting names; none says of a list of nothing that can be read what is missing.
func readElements[E any](what, none string, body []byte, setting string, read func(json.RawMessage) (E, bool)) (Page[E], error) {
	at, err := parsePath(setting)
	if err != nil {
		return Page[E]{}, fmt.Errorf("reading %s: %w", what, err)
	}
	elements, err := list(body, at)
	if err != nil {
		return Page[E]{}, fmt.Errorf("reading %s: %w", what, err)
	}
	page := Page[E]{Items: make([]E, 0, len(elements))}
	for i, raw := range elements {
		if e, ok := read(raw); ok {
			page.Items, page.elements = append(page.Items, e), append(page.elements, raw)
		} else {
			page.Odd = append(page.Odd, i)
		}
	}
	if len(page.Items) == 0 && len(page.Odd) > 0 {
		return Page[E]{}, fmt.Errorf("reading %s: %w: %s; name their paths in wire.%s", what, ErrShape, none, what)
	}
	return page, nil
}
