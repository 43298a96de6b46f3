package cloudtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Device is one device that QueryDevices finds. What the specification calls related information is given only
// when it is asked for.
type Device struct {
	ID             string
	Identifier     string
	Name           string
	ExternalID     string
	OrganizationID string
	Attributes     map[string]string // by attribute schema id
	Tags           map[string]string // by data classification code
	CommInfo       string
	Geo            string
}

// AddDevices seeds devices.
func (s *Service) AddDevices(devices ...Device) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range devices {
		d.Attributes, d.Tags = maps.Clone(d.Attributes), maps.Clone(d.Tags)
		s.devices = append(s.devices, d)
	}
}

func (s *Service) queryDevices(c *Call, _ []string) (any, error) {
	q, err := queryOf(c.Query, "attributeSchemaIds", "dataClassificationCodes", "deviceIdentifier", "deviceIds", "deviceName",
		"externalId", "include", "organizationId", "pageNumber", "pageSize", "textMatchStyle")
	if err != nil {
		return nil, err
	}
	style := cmp.Or(q["textMatchStyle"], "Exact")
	if err := oneOf("textMatchStyle", style, "Exact", "Contains", "StartsWith", "EndsWith", "DoesNotContain", "DoesNotMatch"); err != nil {
		return nil, err
	}
	for _, i := range split(q["include"]) {
		if err := oneOf("include", i, "attributes", "commInfo", "geo", "tags"); err != nil {
			return nil, err
		}
	}
	var found []any
	for _, d := range s.devices {
		if q.wants(d, style) {
			found = append(found, d.shown(q))
		}
	}
	return s.page(found, q, cmp.Or(s.DevicesPerPage, 100))
}

// wants holds the filter rules: ids override the others, which must all match.
func (q query) wants(d Device, style string) bool {
	if ids := split(q["deviceIds"]); len(ids) > 0 {
		return slices.Contains(ids, d.ID)
	}
	match := func(name, have string) bool { return q[name] == "" || matches(style, have, q[name]) }
	return match("deviceIdentifier", d.Identifier) && match("deviceName", d.Name) && match("externalId", d.ExternalID) &&
		(q["organizationId"] == "" || q["organizationId"] == d.OrganizationID)
}

func matches(style, have, want string) bool {
	switch style {
	case "Contains":
		return strings.Contains(have, want)
	case "StartsWith":
		return strings.HasPrefix(have, want)
	case "EndsWith":
		return strings.HasSuffix(have, want)
	case "DoesNotContain":
		return !strings.Contains(have, want)
	case "DoesNotMatch":
		return have != want
	}
	return have == want
}

func (d Device) shown(q query) map[string]any {
	m := map[string]any{
		"id": d.ID, "deviceIdentifier": d.Identifier, "deviceName": d.Name, "externalId": d.ExternalID, "organizationId": d.OrganizationID,
	}
	for _, i := range split(q["include"]) {
		switch i {
		case "attributes":
			m[i] = limited(d.Attributes, q["attributeSchemaIds"])
		case "tags":
			m[i] = limited(d.Tags, q["dataClassificationCodes"])
		case "commInfo":
			m[i] = d.CommInfo
		case "geo":
			m[i] = d.Geo
		}
	}
	return m
}

// limited gives the named entries, all when none is named. Two of the codes have a comma in them, so that a name
// counts when it stands between commas as a whole.
func limited(all map[string]string, names string) map[string]string {
	out := map[string]string{}
	for name, v := range all {
		if names == "" || strings.Contains(","+names+",", ","+name+",") {
			out[name] = v
		}
	}
	return out
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
