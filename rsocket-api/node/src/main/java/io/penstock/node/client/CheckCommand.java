package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Progress;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Plural;
import io.penstock.node.text.TextTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Compares the blocks of a node with the promises of its receipts: the second half of a proof, after [LoadCommand].
@Command(
    name = "check",
    description = {"Reads every block that a file of receipts names and compares its bytes with what `load` put.",
      "",
      "A block promised as written or forced must be there, even after the node was killed. A volatile block, or"
          + " one that"
          + " load only saw, may be missing. Wrong bytes are always an error, and a block that the node calls"
          + " damaged counts"
          + " as corrupt, not as missing. The node's capacity must exceed what was loaded: an evicted block was not"
          + " lost.",
      "",
      "The exit code is 1 if a promise was broken, else 69 if a block is unknown: the node went away, refused it for"
          + " another reason than damage, or does not have it while one of its levels is off.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock check --receipts receipts.jsonl", ""})
final class CheckCommand extends ClientCommand {
  private static final int MOST_NAMED = 100;

  /// Fates of the blocks with one kind of promise.
  static final class Sum {
    private long present;
    private long missing;
    private long corrupt;
    private long unknown;

    public long getAcked() {
      return present + missing + corrupt + unknown;
    }

    public long getPresent() {
      return present;
    }

    public long getMissing() {
      return missing;
    }

    public long getCorrupt() {
      return corrupt;
    }

    public long getUnknown() {
      return unknown;
    }

    private void add(BlockFate fate) {
      switch (fate) {
        case PRESENT -> present++;
        case MISSING -> missing++;
        case CORRUPT -> corrupt++;
        case UNKNOWN -> unknown++;
      }
    }
  }

  /// The outcome in JSON.
  ///
  /// @param kept whether every promise is known to be kept
  /// @param byPromise sums by what was promised
  /// @param broken the first of those that were not, with what became of them
  /// @param refusal why the first block was not given of which nothing is known; null if there is none
  record Outcome(boolean kept, Map<String, Sum> byPromise, Map<String, String> broken, @Nullable String refusal) {}

  @Option(names = "--receipts", paramLabel = "FILE", required = true, description = "File of receipts that "
      + "`load` wrote.")
  private @Nullable String receipts;

  private final Map<Promise, Sum> sums = new EnumMap<>(Promise.class);
  private final Map<String, String> broken = new LinkedHashMap<>();
  private long brokenCount;

  CheckCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    Map<BlockKey, Promise> promised = AckFile.read(requireNonNull(receipts));
    if (promised.isEmpty()) {
      throw new DataException(receipts + ": receipts must be >= 1 (was 0): nothing would be proven");
    }
    promised.keySet().forEach(key -> KeyChoice.inside(config.space().id(), key));
    return node -> check(node, config, promised);
  }

  private int check(NodeLink node, NodeConfig config, Map<BlockKey, Promise> promised) {
    WindowCheck check = new WindowCheck(node, config.get(NodeSettings.WINDOW_BLOCKS), patience());
    List<BlockKey> keys = new ArrayList<>(promised.keySet());
    try (Progress progress = Progress.of(console, "check", "blocks")) {
      progress.at(0, keys.size());
      soFar(progress, check);
      for (int from = 0; from < keys.size(); from += WindowCheck.BLOCKS) {
        int to = Math.min(keys.size(), from + WindowCheck.BLOCKS);
        check.fates(keys.subList(from, to)).forEach((key, fate) -> count(key, requireNonNull(promised.get(key)), fate));
        progress.at(to, keys.size());
        soFar(progress, check);
      }
    }
    return report(check.refusal());
  }

  private void soFar(Progress progress, WindowCheck check) {
    if (isJson()) {
      progress.resultSoFar(outcome(false, check.refusal()));
    }
  }

  private Outcome outcome(boolean kept, @Nullable String refusal) {
    Map<String, Sum> named = new LinkedHashMap<>();
    sums.forEach((promise, sum) -> named.put(promise.word(), sum));
    return new Outcome(kept, named, broken, refusal);
  }

  private void count(BlockKey key, Promise promise, BlockFate fate) {
    sums.computeIfAbsent(promise, none -> new Sum()).add(fate);
    if (fate == BlockFate.CORRUPT || (fate == BlockFate.MISSING && promise.isToStay())) {
      brokenCount++;
      if (broken.size() < MOST_NAMED) {
        broken.put(key.toString(), fate.name().toLowerCase(Locale.ROOT));
      }
    }
  }

  private String unpromised() {
    return sums.entrySet().stream().filter(each -> !each.getKey().isToStay() && each.getValue().missing > 0)
        .map(each -> "; %s %s missing, which was not promised".formatted(
            Plural.of(each.getValue().missing, each.getKey().word() + " block"),
            each.getValue().missing == 1 ? "is" : "are"))
        .collect(Collectors.joining());
  }

  private int report(@Nullable String refusal) {
    long unknown = sums.values().stream().mapToLong(Sum::getUnknown).sum();
    if (isJson()) {
      console.json(outcome(brokenCount == 0 && unknown == 0, refusal));
    } else {
      TextTable table = new TextTable("PROMISED", "BLOCKS", "PRESENT", "MISSING", "CORRUPT", "UNKNOWN");
      sums.forEach((promise, sum) -> table.row(promise.word(), sum.getAcked(), sum.present, sum.missing, sum.corrupt,
          sum.unknown));
      console.out().print(table);
      broken.forEach((key, fate) -> console.say(fate + " " + key));
      if (brokenCount > broken.size()) {
        console.say("and " + (brokenCount - broken.size()) + " more");
      }
      console.say(brokenCount > 0
          ? Plural.of(brokenCount, "promise") + (brokenCount == 1 ? " was broken" : " were broken")
          : (unknown == 0 ? "every promise was kept" : "no promise is known to be broken") + unpromised());
      if (refusal != null) {
        console.say("nothing is known of " + Plural.of(unknown, "block") + ": " + refusal);
      }
    }
    return brokenCount > 0 ? ExitCode.FOUND_FAILURE : unknown > 0 ? ExitCode.UNAVAILABLE : ExitCode.OK;
  }
}
