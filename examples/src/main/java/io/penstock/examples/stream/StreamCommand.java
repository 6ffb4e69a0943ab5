package io.penstock.examples.stream;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.option.SecondsOption;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.TierRecording;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// `penstock example stream`.
@Command(name = "stream", mixinStandardHelpOptions = true,
    description = "Reads a large stream slowly, over loopback TCP, and cancels: the source follows the reader,"
        + " and memory stays bounded. Draws the bytes that were made and not yet read.",
    footer = {"", "Example:", "  penstock example stream --rate 2MB --seconds 10"})
public final class StreamCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--rate", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Bytes a second of the reader (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private long rate;

  @Option(names = "--seconds", paramLabel = "TIME", converter = SecondsOption.class,
      description = "How long it reads before it cancels, such as 3, 0.5 or 3s (default: ${DEFAULT-VALUE}).",
      defaultValue = "3")
  private Duration seconds = Duration.ZERO;

  @Option(names = "--size", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Length of the stream, at most 4 GiB (default: ${DEFAULT-VALUE}).",
      defaultValue = "2000000000")
  private long size;

  @Option(names = "--budget", paramLabel = "SIZE", converter = SizeOption.class,
      description = "Maximum number of bytes in flight (default: ${DEFAULT-VALUE}).",
      defaultValue = "1MiB")
  private long budget;

  @Option(names = "--second", paramLabel = "TIME", converter = SecondsOption.class, defaultValue = "0",
      description = "How long a second reader reads at full speed,"
          + " before and beside the slow one (default: ${DEFAULT-VALUE} = none).")
  private Duration second = Duration.ZERO;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of the bytes (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Option(names = "--json", description = "Prints the result, all looks at the gauges included, as JSON.")
  private boolean json;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public StreamCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    StreamOptions options = StreamOptions.defaults().withRate(rate).withDuration(seconds)
        .withStreamBytes(size).withBudgetBytes(budget).withSecond(second)
        .withSeed(seed);
    StreamReport report = run(options);
    if (json) {
      console.json(report);
    } else {
      console.print(summary(report));
    }
    return report.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private StreamReport run(StreamOptions options) {
    Scheduler timers = Schedulers.newParallel("stream-timers", 2);
    LoopResources loops = LoopResources.create("stream", 4, true);
    try (TierRecording recording = record.begin("")) {
      return new StreamRun(options, loops, timers, recording).run(new StreamView(console, options.boundBytes()));
    } finally {
      timers.dispose();
      loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(Duration.ofSeconds(5));
    }
  }

  private static String summary(StreamReport report) {
    String line = String.format(Locale.ROOT,
        "stream: read %s in %.1f s, made %s, held at most %s of %s, in flight at most %s of %s, %s wrong, %s leaked",
        Sizes.human(report.readBytes()), report.elapsedSeconds(), Sizes.human(report.madeBytes()),
        Sizes.human(report.peakHeldBytes()),
        Sizes.human(report.boundBytes()), Sizes.human(report.peakInFlightBytes()), Sizes.human(report.budgetBytes()),
        Numbers.of(report.wrongSpans()), Numbers.of(report.leakedBlocks()));
    return report.secondAlone() == 0
        ? line
        : line + String.format(Locale.ROOT, ", second reader %s/s alone and %s/s beside",
            Sizes.human(report.secondAlone()), Sizes.human(report.secondBeside()));
  }
}
