package io.penstock.examples.conversations;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.Progress;
import io.penstock.node.cli.ReportFiles;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.config.Policies;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.option.SizeOption;
import io.penstock.node.text.Json;
import io.penstock.node.tiers.TierRecording;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/// `penstock example conversations`.
@Command(name = "conversations", mixinStandardHelpOptions = true,
    description = {"Holds conversations that share a system prompt, over loopback TCP, against a node of device memory"
        + " and host memory, then against one that has a disk, too. The prompt of a turn is the whole conversation so"
        + " far. Shows how many of its blocks came from which tier, and the prefill that this saves. Compares every"
        + " byte.",
      ""},
    footer = {"", "Examples:", "  penstock example conversations --report conversations.html",
      "  penstock example conversations --conversations 48 --dram 128MiB --prefill-speed 10000 --json",
      "  penstock example conversations --choice cost --prefill-speed 200000"})
public final class ConversationsCommand implements Callable<Integer> {
  private final Console console;

  @Option(names = "--conversations", paramLabel = "N", defaultValue = "24",
      description = "Number of conversations (default: ${DEFAULT-VALUE}).")
  private int conversations;

  @Option(names = "--turns", paramLabel = "N", defaultValue = "8",
      description = "Turns of each: a question of 16 to 128 tokens, an answer of 64 to 384"
          + " (default: ${DEFAULT-VALUE}).")
  private int turns;

  @Option(names = "--system", paramLabel = "TOKENS", defaultValue = "1024",
      description = "Tokens of the system prompt that all share (default: ${DEFAULT-VALUE}).")
  private int systemTokens;

  @Option(names = "--hbm", paramLabel = "SIZE", converter = SizeOption.class, defaultValue = "16MiB",
      description = "Memory of the node's simulated device; a block has 64 KiB (default: ${DEFAULT-VALUE}).")
  private long hbm;

  @Option(names = "--dram", paramLabel = "SIZE", converter = SizeOption.class, defaultValue = "64MiB",
      description = "Host memory for the node's blocks (default: ${DEFAULT-VALUE}).")
  private long dram;

  @Option(names = "--ssd", paramLabel = "SIZE", converter = SizeOption.class, defaultValue = "512MiB",
      description = "Disk of the second node (default: ${DEFAULT-VALUE}).")
  private long ssd;

  @Option(names = "--policy", paramLabel = "NAME", defaultValue = "lru",
      description = "Which block leaves first: " + Policies.NAMES + " (default: ${DEFAULT-VALUE}).")
  private String policy = "";

  @Option(names = "--prefill-speed", paramLabel = "TOKENS/S", defaultValue = "1750",
      description = "Assumed speed of a prefill, whatever its length, from which the saved time follows. The default"
          + " is one GPU's share of the 224,000 tokens/s that Mooncake reports of Kimi K2 on 128 H200"
          + " (default: ${DEFAULT-VALUE}).")
  private double tokensPerSecond;

  @Option(names = "--choice", paramLabel = "RULE", defaultValue = "always",
      description = "How much of a prefix that the node has is fetched: always is all of it; cost is what is faster to"
          + " fetch than to compute, by the speed of --prefill-speed and the bandwidth measured so far. With cost the"
          + " figures depend on the machine; --json has each decision and its inputs (default: ${DEFAULT-VALUE}).")
  private ChoiceRule choice = ChoiceRule.ALWAYS;

  @Option(names = "--dir", paramLabel = "DIR",
      description = "Folder for the journal, which is made in it and removed (default: a temporary one). "
          + Folders.MADE)
  private @Nullable Path directory;

  @Option(names = "--seed", paramLabel = "N",
      description = "Seed of tokens, bytes, and the order of the turns (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private long seed;

  @Mixin
  private final ReportFiles reports = new ReportFiles();

  @Option(names = "--json", description = "Prints all figures as JSON.")
  private boolean json;

  @Mixin
  private RecordOptions record = new RecordOptions();

  public ConversationsCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    if (directory != null) {
      Folders.make(console::say, "--dir", directory);
    }
    reports.require();
    try (TemporaryFolder own = TemporaryFolder.in(directory, "penstock-conversations-")) {
      return run(new ConversationsOptions(own.path(), conversations, turns, systemTokens,
          new ConversationsOptions.Memory(hbm, dram, ssd),
          Policies.parse("--policy", policy), tokensPerSecond, choice, seed));
    }
  }

  private int run(ConversationsOptions options) {
    ConversationsReport report = report(options);
    if (json) {
      console.json(report);
    } else {
      console.out().print(ConversationsTable.of(report));
    }
    reports.write(console, Json.of(report) + "\n", () -> ConversationsPage.of(report));
    return report.isGood() ? ExitCode.OK : ExitCode.FOUND_FAILURE;
  }

  private ConversationsReport report(ConversationsOptions options) {
    Scheduler timers = Schedulers.newSingle("conversations-timers");
    LoopResources loops = LoopResources.create("conversations", 2, true);
    try (TierRecording recording = record.begin("");
        Progress progress = Progress.of(console, "conversations", "turns")) {
      return new ConversationsRun(options, loops, timers, progress, recording).run();
    } finally {
      timers.dispose();
      loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(Duration.ofSeconds(5));
    }
  }
}
