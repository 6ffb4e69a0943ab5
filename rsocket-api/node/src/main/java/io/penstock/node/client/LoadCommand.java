package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.OutputFile;
import io.penstock.node.cli.Progress;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.content.GeneratedInput;
import io.penstock.node.link.Answers;
import io.penstock.node.link.Dialer;
import io.penstock.node.link.NodeLink;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Puts recognisable blocks into a node, and writes down its promises: the first half of a proof; [CheckCommand] is the
/// other.
@Command(
    name = "load",
    description = {
      "Puts generated blocks into a node and appends each receipt to a file when it comes.", "",
      "Equal seeds give equal blocks. However the node or this command ends, the file has only what the node promised;"
          + " `check` compares it with what the node has. The same command continues where it ended. A block that"
          + " the node"
          + " has already, and for which the file has no receipt, is recorded as seen: it has no promise, but its bytes"
          + " must be right.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock load --blocks 10000 --seed 7 --receipts receipts.jsonl", ""})
final class LoadCommand extends ClientCommand {
  /// Number of trace ids that the blocks of a seed use.
  private static final long MOST_BLOCKS = 1L << 32;
  private static final long LARGEST_SEED = (1L << 31) - 1;

  /// Outcome in JSON.
  ///
  /// @param ended false if blocks remain, because the node or a file failed, or a signal came
  /// @param stored blocks with a receipt, by promise
  /// @param present blocks that the node had already, without a receipt
  /// @param elsewhere blocks that another client was writing
  record Outcome(long blocks, boolean ended, Map<String, Long> stored, long present, long elsewhere, double seconds,
      double gigabytesPerSecond) {}

  @Option(names = "--blocks", paramLabel = "N", required = true, description = "How many blocks.")
  private long blocks;

  @Option(names = "--seed", paramLabel = "S", defaultValue = "1",
      description = "Which blocks (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--receipts", paramLabel = "FILE", required = true,
      description = "File to append receipts to.")
  private @Nullable Path file;

  private final Map<String, Long> stored = new TreeMap<>();
  private long receipts;
  private long present;
  private long elsewhere;

  LoadCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  Work work(NodeConfig config) throws IOException {
    requireInRange("--blocks", blocks, 1, MOST_BLOCKS);
    requireInRange("--seed", seed, 0, LARGEST_SEED);
    Path path = requireNonNull(file);
    OutputFile.require("--receipts", path);
    Set<BlockKey> known = Files.exists(path) ? AckFile.read(path.toString()).keySet() : Set.of();
    return node -> load(node, config, path, known);
  }

  private int load(NodeLink node, NodeConfig config, Path path, Set<BlockKey> known) throws IOException {
    long began = System.nanoTime();
    try (AckFile file = AckFile.append(path)) {
      try {
        put(node, config, file, known, began);
      } catch (RuntimeException | IOException e) {
        console.say("%s of %s came, and are in %s%s; the same command continues after them".formatted(
            Plural.of(receipts, "receipt"),
            Plural.of(blocks, "block"), path, present == 0 ? "" : ", " + there()));
        if (isJson() && !(e instanceof RemotePermanentException)) { // that one is refused, and nothing came
          tellAll(e, () -> tell(false, began, config));
        }
        throw e;
      }
    }
    tell(true, began, config);
    return ExitCode.OK;
  }

  /// Reports all failures; the command ends with the first.
  private static void tellAll(Exception first, Runnable tell) {
    try {
      tell.run();
    } catch (RuntimeException e) {
      first.addSuppressed(e);
    }
  }

  private void put(NodeLink node, NodeConfig config, AckFile file, Set<BlockKey> known, long began) throws IOException {
    int most = config.get(NodeSettings.WINDOW_BLOCKS);
    long done = 0;
    try (GeneratedInput input = new GeneratedInput(config.space().id(), seed * MOST_BLOCKS, blocks);
        Progress progress = Progress.of(console, "load", "blocks")) {
      progress.at(0, blocks);
      soFar(progress, began, config);
      for (List<BlockKey> keys = input.next(most); !keys.isEmpty(); keys = input.next(most)) {
        Map<BlockKey, Receipt> promised = WindowPut.store(node, keys, input, patience());
        file.add(promised.values().stream().map(Ack::of));
        promised.values().forEach(receipt -> stored.merge(Promise.of(receipt.durability()).word(), 1L, Long::sum));
        receipts += promised.size();
        file.add(there(node, keys.stream().filter(key -> !promised.containsKey(key)).toList())
            .filter(key -> !known.contains(key)).map(key -> Ack.seen(key, node.tier().info().name())));
        done += keys.size();
        progress.at(done, blocks);
        soFar(progress, began, config);
      }
    }
  }

  private void soFar(Progress progress, long began, NodeConfig config) {
    if (isJson()) {
      progress.resultSoFar(outcome(false, began, config));
    } else if (present > 0) {
      progress.soFar(there());
    }
  }

  private String there() {
    return Numbers.of(present) + " there already";
  }

  /// Keys that the node has; another client is writing the others.
  private Stream<BlockKey> there(NodeLink node, List<BlockKey> keys) {
    if (keys.isEmpty()) {
      return Stream.empty();
    }
    Presence there = Answers.of(node.tier().contains(keys), patience());
    present += there.count();
    elsewhere += keys.size() - there.count();
    return there.bits().stream().mapToObj(keys::get);
  }

  private static void requireInRange(String flag, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException("%s must be from %d to %d (was %d)".formatted(flag, least, most, value));
    }
  }

  private Outcome outcome(boolean ended, long began, NodeConfig config) {
    double seconds = (System.nanoTime() - began) / 1e9;
    double rate = receipts * (double) config.space().layout().blockBytes() / 1e9 / seconds;
    return new Outcome(blocks, ended, stored, present, elsewhere, seconds, rate);
  }

  private void tell(boolean ended, long began, NodeConfig config) {
    Outcome outcome = outcome(ended, began, config);
    if (isJson()) {
      console.json(outcome);
    } else {
      console.print(
          String.format(Locale.ROOT, "%s of %s: %s stored%s, %s%s; %.3f s, %.3f GB/s", Plural.of(blocks, "block"),
              Sizes.exact(config.space().layout().blockBytes()), Numbers.of(receipts),
              stored.isEmpty() ? "" : " (" + Numbers.of(stored) + ")", there(),
              elsewhere == 0 ? "" : ", " + Numbers.of(elsewhere) + " being written by another client",
              outcome.seconds(),
              outcome.gigabytesPerSecond()));
    }
  }
}
