package io.penstock.node.recording;

import io.penstock.node.cli.CommandGroup;
import picocli.CommandLine.Command;

/// `penstock recording`: looks into recordings, and copies them.
@Command(
    name = "recording",
    description = {"Looks into recordings: what is in them, and the event with which a fault began.", "",
      "A recording is made with --record, and played by 'penstock replay'.", ""},
    mixinStandardHelpOptions = true,
    subcommands = {InfoCommand.class, DumpCommand.class, CutCommand.class, AnonymiseCommand.class,
      ExportTraceCommand.class, CompareCommand.class, WaterfallCommand.class, BisectCommand.class},
    footerHeading = "%nExamples:%n",
    footer = {"  penstock recording info incident", "  penstock recording bisect incident --with equal", ""})
public final class RecordingCommand extends CommandGroup {}
