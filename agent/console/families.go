package console

// deprecated begins the help of a name that goes with the next version. Only who asks for /metrics?names=old gets them.
const deprecated = "Deprecated: "

// families are the metrics and what each is, in the order in which they are written. A name that ends in _total is a counter, every
// other one a gauge.
var families = []struct{ name, help string }{
	{"gauger_info", "What runs where."},
	{"gauger_began_timestamp_seconds", "When this run of the program began."},
	{"gauger_problems", "Things that a person should look at, by what they may cost."},
	{"gauger_faults", "Faults that go on, by the rule of their event."},

	{"gauger_clock_grade", "1 for the grade that the clock has: unset, set, assumed or trusted."},
	{"gauger_clock_doubt_seconds", "By how much the clock was set away from where it was last believed; 0 when it is not in doubt."},
	{"gauger_key_state", "1 for the state of each key: untried, proven or refused. Of several values of a slot the best counts."},
	{"gauger_key_expiry_timestamp_seconds", "When the key ends, as far as the service has said."},
	{"gauger_service_answered_timestamp_seconds", "When the service last accepted a key."},

	{"gauger_outbox_open", "0 while the outbox cannot be opened and nothing is stored."},
	{"gauger_records_accepted_total", "Records that were stored to be sent."},
	{"gauger_records_delivered_total", "Records that the service has."},
	{"gauger_records_evicted_total", "Records that gave way since the store was full."},
	{"gauger_records_dropped_total", "Records that a person gave up."},
	{"gauger_records_lost_total", "Records that a damaged file took."},
	{"gauger_records_lost_unknown", "1 when more records of the stream may be lost than are counted: damage took the counts as well."},
	{"gauger_records_waiting", "Records that have not left yet."},
	{"gauger_records_dead", "Records that were refused, or damaged on disk, and are kept for a person."},
	{"gauger_records", deprecated + "gauger_records_waiting, gauger_records_dead and the counters gauger_records_accepted_total and so on have each figure."},
	{"gauger_tickets_held", "Tickets that are held and not queued yet."},
	{"gauger_stream_held", "1 while the service takes nothing of the stream."},
	{"gauger_stream_parked", "Records that wait since the service may have them already."},
	{"gauger_stream_apart", "Devices, wells and records that wait by themselves, since they alone are not taken."},
	{"gauger_stream_oldest_age_seconds", "Age of the record that has waited longest, what waits by itself apart; 0 when none waits."},
	{"gauger_stream_last_success_timestamp_seconds", "When the service last took records of the stream, in this run of the program."},

	{"gauger_tank_good", "1 when the newest reading of the tank's level is good."},
	{"gauger_tank_level_meters", "Newest level of the tank that can be used."},
	{"gauger_tank_level_inches", deprecated + "use gauger_tank_level_meters; a metre is 39.37 in."},
	{"gauger_tank_barrels", "What is in the tank, by that level and its table."},
	{"gauger_tank_last_good_timestamp_seconds", "When the tank's level was last good."},
	{"gauger_tank_last_load_timestamp_seconds", "End of the tank's newest load that is not rejected."},
	{"gauger_point_good", "1 when the newest reading of the point is good."},
	{"gauger_readings_unused_total", "Readings without a device time that may have waited at the broker, and were not used."},
	{"gauger_undecoded_total", "Messages that could not be decoded and were not stored: one like it is, or beyond the budget."},
	{"gauger_undecoded_over_budget_bytes_total", "Bytes of those beyond the budget."},

	{"gauger_line_load", "Share of the last minute or two in which requests had the line."},
	{"gauger_line_busy_seconds_total", "How long requests had the line, their time-outs and silences included."},
	{"gauger_line_requests_total", "Requests that had the line."},
	{"gauger_line_timeouts_total", "Requests that got no answer in time."},
	{"gauger_line_exceptions_total", "Answers that were refusals."},
	{"gauger_line_bad_frames_total", "Requests whose answer came damaged."},
	{"gauger_line_late_total", "Answers dropped because they belonged to an earlier request."},
	{"gauger_line_cross_talk_total", "Answers dropped because another unit or function sent them."},
	{"gauger_line_reconnects_total", "Times that the socket or port was opened again."},
	{"gauger_line_mismatches_total", "Values that two requests did not agree on."},
	{"gauger_line_down_total", "Requests for which the line could not be opened, or went away."},
	{"gauger_device_round_seconds", "How long the requests of the device's last answered round had its line."},
	{"gauger_device_answered_timestamp_seconds", "When the device's last answered round was."},

	{"gauger_link_bytes", "Bytes that crossed the link in the local day, both ways."},
	{"gauger_link_max_bytes", "Bytes that may cross the link in a local day."},
	{"gauger_link_held", "1 when nothing of the stream leaves now because of link's settings."},
	{"gauger_written_bytes_total", "Bytes that this run has had written to disk."},
	{"gauger_written_bytes_per_day", "Bytes written in a day, at the rate of the last one; 0 in the first minutes."},
	{"gauger_flash_years", "Years that the configured flash lasts at that rate."},
	{"gauger_recorder_bytes", "Disk space that the recorded readings have."},
	{"gauger_recorder_readings_total", "Readings since the start: taken, and of those the lost, which could not be written."},
}
