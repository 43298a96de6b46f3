package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gauger/agent/cloud"
	"gauger/agent/control"
)

type devicesQueryOptions struct{ query control.DevicesArgs }

func devicesQueryCommand(c *call) *cobra.Command {
	o := &devicesQueryOptions{}
	cmd := newCommand(c, "query", "devices of the service", o.run)
	takes(cmd, 0, "devices query takes flags only; --device-name NAME finds a device")
	f := cmd.Flags()
	f.StringVar(&o.query.Identifier, "device-identifier", "", "only devices with this `IDENTIFIER`")
	f.StringVar(&o.query.Name, "device-name", "", "only devices with this `NAME`")
	f.StringVar(&o.query.ExternalID, "external-id", "", "only devices with this external `ID`")
	f.StringVar(&o.query.OrganizationID, "organization-id", "", "only devices of the organization with this `ID`")
	word(cmd, &o.query.TextMatch, "text-match-style", "how identifier, name and external id are compared, default Exact",
		"Exact", "Contains", "StartsWith", "EndsWith", "DoesNotContain", "DoesNotMatch")
	list(f, &o.query.IDs, "device-ids", "only the devices with these `IDS`, whatever the other filters say")
	f.Func("include", "related information to bring along, of `WHAT`: attributes, commInfo, geo, tags, with commas between them", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			got, err := oneOf(strings.TrimSpace(part), "attributes", "commInfo", "geo", "tags")
			if err != nil {
				return err
			}
			o.query.Include = append(o.query.Include, got)
		}
		return nil
	})
	list(f, &o.query.AttributeSchemaIDs, "attribute-schema-ids", "which attributes, by the `IDS` of their schemas")
	f.Func("data-classification-codes", "which tags, by their `CODES`, with commas between them", func(text string) error {
		o.query.Codes = append(o.query.Codes, text) // a code may have a comma in it; the service gets the list as it stands
		return nil
	})
	addPageFlags(f, &o.query.Page, &o.query.PageSize, &o.query.All)
	return cmd
}

func (o *devicesQueryOptions) run(ctx context.Context, c *call, _ []string) error {
	var found control.QueryResult[cloud.Device]
	if err := ask(ctx, c, "devices.query", o.query, &found); err != nil {
		return err
	}
	raw := func(d cloud.Device) json.RawMessage { return d.Raw }
	return printAnswer(c, found, raw, o.query.All, "device", func(w *table) {
		w.printf("ID\tIDENTIFIER\tNAME\tEXTERNAL ID\tORGANIZATION\n")
		for _, d := range found.Items {
			w.printf("%s\t%s\t%s\t%s\t%s\n", d.ID, d.Identifier, d.Name, d.ExternalID, d.OrganizationID)
		}
	})
}

// printAnswer prints a table of what was understood of an answer of the service, or the answers as they came; all: every page was asked for.
func printAnswer[E any](c *call, found control.QueryResult[E], raw func(E) json.RawMessage, all bool, noun string, rows func(*table)) error {
	items := []json.RawMessage{}
	for _, item := range found.Items {
		items = append(items, raw(item))
	}
	var err error
	switch t := newTable(c.out); {
	case len(found.Raw) > 0:
		err = printJSON(c.out, append(items, legible(found.Raw)...))
	case found.Note != "": // nothing came
	case c.json():
		err = printJSON(c.out, items)
	case len(items) > 0:
		rows(t)
		err = t.Flush()
	}
	if err != nil {
		return err
	}
	for _, left := range found.Odd {
		fmt.Fprintf(c.err, "left out: %s\n", left)
	}
	switch {
	case found.Note != "":
		fmt.Fprintf(c.err, "unknown: %s; what came is shown as it is\n", found.Note)
		return errQuiet
	case c.json():
	case all:
		fmt.Fprintf(c.err, "%s in all\n", countText(len(items), noun))
	default:
		fmt.Fprintf(c.err, "%s on this page; --all follows the pages to the end\n", countText(len(items), noun))
	}
	return nil
}

// legible writes texts anew: on the way from the daemon a page's tags became escapes.
func legible(answers []json.RawMessage) []json.RawMessage {
	for i, raw := range answers {
		var text string
		if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			continue
		}
		var b bytes.Buffer
		if err := printJSON(&b, text); err == nil {
			answers[i] = b.Bytes()
		}
	}
	return answers
}
