package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gauger/agent/control"

	"github.com/spf13/cobra"
)

type loginOptions struct {
	request control.LoginArgs
	secrets map[string]*string // by the flag that names a file
}

func loginCommand(c *call) *cobra.Command {
	o := &loginOptions{secrets: map[string]*string{}}
	cmd := newCommand(c, "login", "authenticate at the service", o.run)
	takes(cmd, 0, "login takes flags only")
	f := cmd.Flags()
	f.StringVar(&o.request.Type, "type", "", "authentication `TYPE`")
	f.StringVar(&o.request.Customer, "customer", "", "`GUID` of the customer")
	f.StringVar(&o.request.User, "user", "", "`NAME` of the user")
	f.StringVar(&o.request.Feature, "feature", "", "`FEATURE`")
	for _, x := range []struct {
		name, about string
		into        *string
	}{
		{"password-hash-file", "the password's hash", &o.request.PasswordHash}, {"token-file", "the token", &o.request.Token},
		{"api-key-file", "the API key", &o.request.APIKey}, {"subscription-key-file", "the subscription key of this request", &o.request.SubscriptionKey},
	} {
		o.secrets[x.name] = x.into
		f.StringVar(x.into, x.name, "", "`FILE` that holds "+x.about+" and nothing else")
	}
	f.BoolVar(&o.request.Keep, "keep", false, "take the keys that come back into the key ring")
	return cmd
}

// run authenticates at the service. What no flag gives comes from service.login of the configuration.
func (o *loginOptions) run(ctx context.Context, c *call, _ []string) error {
	for _, name := range slices.Sorted(maps.Keys(o.secrets)) {
		if file := *o.secrets[name]; file != "" {
			text, err := readSecret(ctx, c, file, name)
			if err != nil {
				return fmt.Errorf("--%s: %w", name, err)
			}
			*o.secrets[name] = text
		}
	}
	var got control.LoginResult
	if err := ask(ctx, c, "login", o.request, &got); err != nil {
		return err
	}
	return c.show(got, func() error { return printLogin(c, got) })
}

func printLogin(c *call, got control.LoginResult) error {
	at := findSite(c).zone()
	t := newTable(c.out)
	t.printf("logged in\t%s (result %d)\n", got.User, got.Result)
	for _, customer := range got.Customers {
		t.printf("customer\t%s %s%s\n", customer.ID, customer.Name, when(customer.ID == got.Customer, " (this one)"))
	}
	if got.Primary != "none" {
		t.printf("primary key\t%s, ends %s\n", got.Primary, keyEndText(got.PrimaryEnd, false, at))
	}
	if got.Secondary != "none" {
		t.printf("secondary key\t%s, ends %s\n", got.Secondary, keyEndText(got.SecondaryEnd, false, at))
	}
	if got.Kept {
		t.printf("kept\tthe keys are in the key ring now\n")
	} else {
		t.printf("not kept\t--keep takes the keys into the key ring\n")
	}
	return t.Flush()
}
