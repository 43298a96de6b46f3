package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"gauger/agent/ledger"
	"gauger/config"
)

const (
	defaultConfig = "/etc/gauger/gauger.yaml"
	defaultSocket = "/run/gauger/gauger.sock"
)

// Commands are listed in the order in which they are added, which is a person's and not the alphabet's.
func init() { cobra.EnableCommandSorting = false }

// newRoot is the tree of all commands.
func newRoot(c *call) *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use: "gauger", Short: "gauger reads the site's tanks and writes the run tickets.",
		SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true, DefaultShellCompDirective: new(cobra.ShellCompDirectiveNoFileComp)},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case showVersion:
				return runVersion(cmd.Context(), c, args)
			case len(args) == 0:
				printHelp(cmd, nil)
				return errNoCommand
			}
			return usageError{fmt.Sprintf("there is no command %q%s; `gauger help` lists them", args[0], didYouMean(args[0], commandNames(cmd)))}
		},
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetHelpCommand(newHelpCommand())
	root.Flags().BoolVar(&showVersion, "version", false, "say which gauger this is")
	f := root.PersistentFlags()
	f.StringVarP(&c.config, "c", "c", cmp.Or(c.getenv("GAUGER_CONFIG"), defaultConfig), "configuration `FILE`; $GAUGER_CONFIG has another default")
	f.StringVar(&c.socket, "socket", cmp.Or(c.getenv("GAUGER_SOCKET"), defaultSocket), "control `SOCKET` of the running gauger; $GAUGER_SOCKET has another default")
	f.Func("shard", "which of several instances that share a site's MQTT devices, as `I/N` from 0/N; $"+config.ShardVariable+" has a default", func(shard string) error {
		if _, err := config.ParseShard(shard); err != nil {
			return err
		}
		return os.Setenv(config.ShardVariable, shard) // all that reads a configuration goes by it
	})
	f.StringVar(&c.format, "format", "", "output `FORMAT`: text, or json for a program (default text)")
	root.Annotations = map[string]string{formatUsageNote: "output `FORMAT`: text, or json for a program; csv too of tickets list, book, proof, outbox list and the exports (default text)"}
	addCommands(root, c)
	completeFormats(root)
	completeFiles(root)
	return root
}

// addCommands adds all there are, in the order in which help lists them.
func addCommands(root *cobra.Command, c *call) {
	root.AddCommand(
		runCommand(c), initCommand(c), checkCommand(c), readCommand(c), probeCommand(c), scanCommand(c), commissionCommand(c),
		group("discover", "find out what there is to be read", discoverMQTTCommand(c)),
		statusCommand(c), topCommand(c), bookCommand(c),
		group("tickets", "the run tickets", ticketsListCommand(c), ticketsShowCommand(c), ticketsExplainCommand(c), ticketsMatchCommand(c),
			ticketsAddCommand(c), ticketsEditCommand(c), ticketsHoldCommand(c), ticketsReleaseCommand(c), ticketsRejectCommand(c)),
		group("tanks", "the tanks, and work on them", tanksListCommand(c), tanksInhibitCommand(c), tanksAllowCommand(c),
			tanksExportCommand(c), newCommand(c, "import FILE...", "take over tanks that another instance has handed over", runTanksImport)),
		group("export", "take out what was recorded", exportReadingsCommand(c)),
		backtestCommand(c), applyCommand(c), proofCommand(c), auditCommand(c), bundleCommand(c),
		group("outbox", "the records that are queued, delivered or refused", outboxListCommand(c), outboxShowCommand(c), outboxDeadCommand(c),
			outboxRetryCommand(c), outboxConfirmCommand(c), outboxDropCommand(c), outboxExportCommand(c), outboxCheckCommand(c)),
		group("keys", "the subscription keys", keysShowCommand(c), keysRenewCommand(c), keysSetCommand(c)),
		loginCommand(c),
		group("clock", "the box's clock", clockTrustCommand(c)),
		group("devices", "the service's devices", devicesQueryCommand(c)),
		group("memo", "memos to devices", memoAddCommand(c)),
		group("events", "the service's events", eventsGetCommand(c), eventsSaveCommand(c)),
		group("tagvalues", "tag values of wells", newSaveValuesCommand(c, "save tag values of a well", ledger.TagValues, readTagValues)),
		group("targets", "production targets of wells", newSaveValuesCommand(c, "save production targets of a well", ledger.Targets, readTargets)),
		completionCommand(c), withoutFlags(newCommand(c, "version", "which gauger this is", runVersion)),
	)
}
