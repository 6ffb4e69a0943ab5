package io.penstock.node.client;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.PrefixHasher;
import io.penstock.block.SpaceId;
import io.penstock.node.cli.InputFile;
import io.penstock.tier.TierHolds.BlockTokens;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The ways to name blocks on the command line. Exactly one of them is used.
final class KeyChoice {
  @Option(names = "--key", paramLabel = "SPACE:HASH", split = ",", description = "Keys in hex, as put prints them.")
  private List<String> keys = new ArrayList<>();

  @Option(names = "--keys-from", paramLabel = "FILE", description = "File with one key a line; - reads standard input.")
  private @Nullable String file;

  @Option(names = "--trace-id", paramLabel = "IDS", description = "Block ids of a trace, such as 1,5,10-20.")
  private @Nullable String traceIds;

  @Option(names = "--tokens", paramLabel = "IDS",
      description = "Token ids, such as 1,5,10-20, cut into blocks and hashed by prefix; an incomplete last block"
          + " is left out.")
  private @Nullable String tokens;

  boolean isGiven() {
    return count() > 0;
  }

  /// Whether token ids name the blocks.
  boolean hasTokens() {
    return tokens != null;
  }

  /// The options that were given, for a message.
  String given() {
    List<String> options = new ArrayList<>();
    if (!keys.isEmpty()) {
      options.add("--key");
    }
    if (file != null) {
      options.add("--keys-from");
    }
    if (traceIds != null) {
      options.add("--trace-id");
    }
    if (tokens != null) {
      options.add("--tokens");
    }
    return String.join(" and ", options);
  }

  /// The keys that were named, in order.
  ///
  /// @param in standard input
  /// @throws IllegalArgumentException if none or several ways were used, or a key comes twice or is of another space
  List<BlockKey> of(CacheSpace space, InputStream in) throws IOException {
    List<BlockKey> named = named(space, in);
    Set<BlockKey> seen = new HashSet<>();
    for (BlockKey key : named) {
      if (!seen.add(key)) {
        throw new IllegalArgumentException("keys must be distinct (was " + key + " twice)");
      }
    }
    return named;
  }

  /// The keys of a request in a group of layers that stores a block every few blocks of the trace.
  ///
  /// @param step ids from one block of the group to the next
  List<BlockKey> ofRequest(CacheSpace space, int step, InputStream in) throws IOException {
    if (!keys.isEmpty() || file != null) {
      throw new IllegalArgumentException(
          given() + " must come with --kv-group: keys are of one group (was without)");
    }
    List<BlockKey> all = of(space, in);
    return traceIds == null || step == 1
        ? all
        : IntStream.range(0, all.size() / step).mapToObj(i -> all.get((i + 1) * step - 1)).toList();
  }

  private List<BlockKey> named(CacheSpace space, InputStream in) throws IOException {
    if (count() != 1) {
      throw new IllegalArgumentException(
          "keys must be given by exactly one of --key, --keys-from, --trace-id and --tokens (was " + count() + ")");
    }
    SpaceId id = space.id();
    if (traceIds != null) {
      return Ranges.parse("--trace-id", traceIds).stream().map(PrefixHasher::ofTraceId)
          .map(hash -> new BlockKey(id, hash)).toList();
    }
    if (tokens != null) {
      return ofTokens(id, space.group().strideTokens(space.layout()), Ranges.parse("--tokens", tokens));
    }
    return file == null
        ? keys.stream().map(key -> inside(id, BlockKey.parse(key))).toList()
        : ofLines(id, file, in);
  }

  private int count() {
    return (keys.isEmpty() ? 0 : 1) + (file == null ? 0 : 1) + (traceIds == null ? 0 : 1) + (tokens == null ? 0 : 1);
  }

  /// The token ids of the blocks that `--tokens` names.
  ///
  /// @throws IllegalArgumentException if another option names the keys
  Map<BlockKey, BlockTokens> tokens(CacheSpace space) {
    if (tokens == null || count() != 1) {
      throw new IllegalArgumentException("--token-ids must come with --tokens (was without)");
    }
    int blockTokens = space.group().strideTokens(space.layout());
    List<Long> ids = Ranges.parse("--tokens", tokens);
    List<BlockKey> blocks = ofTokens(space.id(), blockTokens, ids);
    return BlockTokens.of(BlockHash.ROOT, blocks,
        ids.stream().limit((long) blocks.size() * blockTokens).mapToInt(Math::toIntExact).toArray());
  }

  private static List<BlockKey> ofTokens(SpaceId space, int blockTokens, List<Long> ids) {
    if (ids.size() < blockTokens) {
      throw new IllegalArgumentException(
          "--tokens must be at least one block of " + blockTokens + " (was " + ids.size() + ")");
    }
    PrefixHasher hasher = new PrefixHasher(List.of());
    List<BlockKey> keys = new ArrayList<>();
    BlockHash parent = BlockHash.ROOT;
    for (int from = 0; from + blockTokens <= ids.size(); from += blockTokens) {
      parent = hasher.next(parent, ids.subList(from, from + blockTokens).stream().mapToInt(Math::toIntExact).toArray());
      keys.add(new BlockKey(space, parent));
    }
    return keys;
  }

  private static List<BlockKey> ofLines(SpaceId space, String file, InputStream in) throws IOException {
    boolean isInput = file.equals("-");
    String name = isInput ? "standard input" : file;
    List<String> lines =
        (isInput ? new String(in.readAllBytes(), StandardCharsets.UTF_8) : InputFile.text(file)).lines().toList();
    List<BlockKey> keys = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      if (!lines.get(i).isBlank()) {
        keys.add(ofLine(space, lines.get(i).strip(), name, i + 1));
      }
    }
    if (keys.isEmpty()) { // as a put that failed leaves it
      throw new IllegalArgumentException("--keys-from must have one key a line (was empty: " + name + ")");
    }
    return keys;
  }

  private static BlockKey ofLine(SpaceId space, String text, String file, int line) {
    try {
      return inside(space, BlockKey.parse(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("%s, line %d: %s".formatted(file, line, e.getMessage()), e);
    }
  }

  /// `key`, which is of `space`.
  ///
  /// @throws IllegalArgumentException if it is not
  static BlockKey inside(SpaceId space, BlockKey key) {
    if (!key.space().equals(space)) {
      throw new IllegalArgumentException(
          "key must be of space " + space + ", which --model and the options of its layout state (was " + key + ")");
    }
    return key;
  }
}
