package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.Sizes;
import io.penstock.tier.Receipt;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Puts blocks that can be recognised into a node, and writes down what it promised: the first half of a proof, [CheckCommand] is the other.
@Command(
    name = "load",
    description = {"Puts generated blocks into a node, and appends a line to a file for each receipt, as soon as it has come.", "",
        "Same seed, same blocks. However the node or this command ends, the file has only what was promised; `check` compares it with",
        "what is there.", ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock load --blocks 10000 --block-bytes 64KiB --seed 7 --acks acks.jsonl", ""})
final class LoadCommand extends ClientCommand {
  /// Blocks of a seed are those of so many trace ids.
  private static final long MOST_BLOCKS = 1L << 32;
  private static final long LARGEST_SEED = (1L << 31) - 1;

  /// What was done, in JSON.
  ///
  /// @param stored blocks with a receipt, by what it promised
  /// @param present blocks that the node had already: nobody promised anything for them now
  record Outcome(long blocks, Map<String, Long> stored, long present, double seconds, double gigabytesPerSecond) {}

  @Option(names = "--blocks", paramLabel = "N", required = true, description = "How many blocks.")
  private long blocks;

  @Option(names = "--seed", paramLabel = "S", defaultValue = "1", description = "Which blocks (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--acks", paramLabel = "FILE", required = true, description = "Where receipts are written down, after what is there already.")
  private @Nullable Path acks;

  private final Map<String, Long> stored = new TreeMap<>();
  private long present;

  LoadCommand(Console console, Dialer dialer) {
    super(console, dialer);
  }

  @Override
  int run(NodeLink node, NodeConfig config) throws IOException {
    requireInRange("--blocks", blocks, 1, MOST_BLOCKS);
    requireInRange("--seed", seed, 0, LARGEST_SEED);
    long began = System.nanoTime();
    try (GeneratedInput input = new GeneratedInput(config.space().id(), seed * MOST_BLOCKS, blocks);
        AckFile file = AckFile.append(requireNonNull(acks))) {
      int most = config.get(NodeSettings.WINDOW_BLOCKS);
      for (List<BlockKey> keys = input.next(most); !keys.isEmpty(); keys = input.next(most)) {
        Map<BlockKey, Receipt> receipts = WindowPut.store(node, keys, input, patience());
        file.add(receipts.values());
        receipts.values().forEach(receipt -> stored.merge(receipt.durability().name().toLowerCase(Locale.ROOT), 1L, Long::sum));
        present += keys.size() - receipts.size();
      }
    }
    tell((System.nanoTime() - began) / 1e9, config.space().layout().blockBytes());
    return ExitCode.OK;
  }

  private static void requireInRange(String flag, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException("%s must be from %d to %d (was %d)".formatted(flag, least, most, value));
    }
  }

  private void tell(double seconds, int blockBytes) {
    long put = blocks - present;
    double rate = put * (double) blockBytes / 1e9 / seconds;
    if (isJson()) {
      console.json(new Outcome(blocks, stored, present, seconds, rate));
    } else {
      console.print(String.format(Locale.ROOT, "%d blocks of %s: %d stored %s, %d there already; %.3f s, %.3f GB/s", blocks,
          Sizes.exact(blockBytes), put, stored, present, seconds, rate));
    }
  }
}
