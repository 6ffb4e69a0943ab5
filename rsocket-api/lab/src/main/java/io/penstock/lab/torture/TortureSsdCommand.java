package io.penstock.lab.torture;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import io.penstock.storage.EngineKind;
import io.penstock.storage.disk.SyncMode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock torture ssd`: a process that writes to a disk level is killed over and over.
@Command(
    name = "ssd",
    description = {"Kills a process that writes to a disk level, over and over, and looks for what it was promised.",
      "",
      "A child process puts, removes and reads blocks in a small journal, in which segments end, are emptied and go "
          + "all the time, and writes down each receipt when it has come. It gets SIGKILL: a third of the times at any "
          + "moment, else in a phase that a seed draws, at its n-th beginning and up to about its length later; a page "
          + "of memory that both see says where it was. After each kill every byte is checked, the journal is opened "
          + "and every block read, then the next child goes on in the same folder.",
      "",
      "Ends with 1 if a promise was broken. A kill leaves what the system has: what a failure of the machine leaves "
          + "is proven by tests.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock torture ssd --kills 30 --dir /tmp/torture --durability always", ""})
final class TortureSsdCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--kills", paramLabel = "N", defaultValue = "30",
      description = "How often (default: ${DEFAULT-VALUE}).")
  private int kills;

  @Option(names = "--dir", paramLabel = "D", required = true,
      description = "Folder, which must be empty if it is there; afterwards the journal is in it. It takes less "
          + "than 64 MiB. "
          + Folders.MADE)
  private @Nullable Path directory;

  @Option(names = "--durability", paramLabel = "RULE", defaultValue = "interval",
      description = "Durability that receipts promise: none, interval or always (default: ${DEFAULT-VALUE}).")
  private SyncMode durability = SyncMode.INTERVAL;

  @Option(names = "--engine", paramLabel = "ENGINE", defaultValue = "chronicle",
      description = "Engine that keeps the records: chronicle or plain (default: ${DEFAULT-VALUE}).")
  private EngineKind engine = EngineKind.CHRONICLE;

  @Option(names = "--seed", paramLabel = "S", defaultValue = "1",
      description = "Seed of all random choices (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--json", description = "Print the outcome as one JSON document.")
  private boolean json;

  TortureSsdCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path folder = requireNonNull(directory);
    requireSense(folder);
    TortureReport report = run(folder);
    report.findings().forEach(console::say);
    if (json) {
      console.json(report);
    } else {
      console.out().print(table(report, folder));
    }
    console.requireHeard();
    return report.kept() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private void requireSense(Path folder) throws IOException {
    Checks.positive("--kills", kills);
    Folders.requireEmpty("--dir", folder);
    Folders.make(console::say, "--dir", folder);
  }

  private TortureReport run(Path folder) throws IOException, InterruptedException {
    try (SsdTorture torture = new SsdTorture(folder, engine, durability, seed);
        Progress progress = Progress.of(console, "torture", "kills")) {
      progress.next("killing a writer %s in %s: engine %s, durability %s, seed %d; the first one starts".formatted(
          Plural.of(kills, "time"), folder,
          lower(engine), lower(durability), seed));
      at(progress, torture, 0);
      return torture.run(kills, done -> at(progress, torture, done));
    }
  }

  private void at(Progress progress, SsdTorture torture, int done) {
    progress.at(done, kills);
    if (json) {
      progress.resultSoFar(torture.report().soFar());
    }
  }

  private static String lower(Enum<?> word) {
    return word.name().toLowerCase(Locale.ROOT);
  }

  private static String table(TortureReport report, Path folder) {
    TortureReport.Broken broken = report.broken();
    TortureReport.Recovery recovery = report.recovery();
    TextTable promises = new TextTable("WHAT", "VALUE")
        .row("kills", report.kills())
        .row("receipts", report.receipts())
        .row("removals settled", report.removals())
        .row("puts refused for want of room", report.refused())
        .row("blocks promised, over all checks", report.checked())
        .row("blocks read whole", report.read())
        .row("promised and lost", broken.lost())
        .row("not promised but visible in part", broken.partial())
        .row("served with wrong bytes", broken.wrong())
        .row("removed, settled and back", broken.cameBack())
        .row("damaged in the files", broken.damaged())
        .row("failed unasked", broken.failures())
        .row("opening, median", String.format(Locale.ROOT, "%.1f ms", recovery.medianMillis()))
        .row("opening, worst", String.format(Locale.ROOT, "%.1f ms", recovery.worstMillis()))
        .row("opening, per GB of journal (these have " + Sizes.human(recovery.journalBytes()) + ")",
            String.format(Locale.ROOT, "%.3f s", recovery.secondsPerGigabyte()));
    TextTable phases = new TextTable("PHASE", "AIMED AT", "FELL IN");
    report.phases().forEach(phase -> phases.row(phase.phase(), phase.aimed(), phase.fell()));
    return promises + "\n" + phases + "\n"
        + "%s: engine %s, durability %s, seed %d, journal %s%n".formatted(report.kept() ? "kept" : "BROKEN",
            report.engine(), report.durability(), report.seed(), SsdTorture.journal(folder));
  }
}
