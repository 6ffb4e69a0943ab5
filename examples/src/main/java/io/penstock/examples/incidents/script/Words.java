package io.penstock.examples.incidents.script;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/// Events, and the blocks that they name: block `r2.3` is the fourth block of the second prompt.
public final class Words {
  /// Blocks of 256 bytes in four granules.
  public static final CacheSpace SPACE =
      CacheSpace.of("incidents", BlockLayout.attention(2, 4, 2, 4, ElementType.BF16));

  private static final int PROMPTS = 4;
  /// Most blocks of a prompt.
  private static final int PROMPT_BLOCKS = 1 << 10;
  private static final Map<BlockKey, String> NAMES = new HashMap<>();

  static {
    for (int prompt = 1; prompt <= PROMPTS; prompt++) {
      for (int block = 0; block < PROMPT_BLOCKS; block++) {
        NAMES.put(key(prompt, block), "r" + prompt + "." + block);
      }
    }
  }

  private Words() {}

  /// The key of a block of a prompt, both counted as in its name.
  public static BlockKey key(long prompt, int block) {
    return SPACE.key(PrefixHasher.ofTraceId(prompt * PROMPT_BLOCKS + block));
  }

  /// The keys of the blocks `from … to - 1` of a prompt.
  public static List<BlockKey> keys(long prompt, int from, int to) {
    return LongStream.range(from, to).mapToObj(block -> key(prompt, (int) block)).toList();
  }

  /// The name of a block.
  public static String name(BlockKey key) {
    return NAMES.getOrDefault(key, key.hash().toString().substring(0, 8));
  }

  /// The names of blocks; of many, the first ones.
  public static String names(List<BlockKey> keys) {
    return keys.stream().limit(4).map(Words::name)
        .collect(Collectors.joining(" ", "", keys.size() > 4 ? " … (" + keys.size() + ")" : ""));
  }

  /// An input: a turn begins with it.
  public static RecordedEvent input(long millis, Kind kind, long flow, String text, List<BlockKey> keys,
      long... numbers) {
    return new RecordedEvent(kind, true, millis * 1_000_000, 0, flow, numbers, keys, text);
  }

  /// A fact.
  public static RecordedEvent fact(Kind kind, long flow, String text, List<BlockKey> keys, long... numbers) {
    return new RecordedEvent(kind, false, 0, 0, flow, numbers, keys, text);
  }

  public static RecordedEvent fact(Kind kind, long flow, String text) {
    return fact(kind, flow, text, List.of());
  }

  public static RecordedEvent fact(Kind kind, long flow, String text, BlockKey key) {
    return fact(kind, flow, text, List.of(key));
  }
}
