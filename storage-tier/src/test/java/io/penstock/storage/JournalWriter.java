package io.penstock.storage;

import io.penstock.block.Block;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Rest;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/// A process that writes until it is ended: `+ FROM TO` on its output is a batch that the store acknowledged, `~ FROM TO` one about to be
/// removed, `- FROM TO` one whose removal the store acknowledged.
final class JournalWriter {
  private JournalWriter() {}

  /// @param args directory, engine, first number
  public static void main(String[] args) {
    CacheSpace space = Blocks.smallSpace();
    JournalStore store = JournalStore.open(space, options(Path.of(args[0]), EngineKind.valueOf(args[1])));
    SlabArena arena = new SlabArena("host", space.layout(), 64, 4);
    long from = Long.parseLong(args[2]);
    List<Rest> before = List.of();
    for (int batch = 0; ; batch++) {
      long to = from + 1 + batch % 9;
      List<Block> blocks = Blocks.keys(space, from, to).stream().map(key -> Blocks.block(arena, key)).toList();
      List<Rest> rests = Objects.requireNonNull(store.put(blocks).block());
      blocks.forEach(Block::close);
      System.out.println("+ " + from + " " + to);
      if (batch % 3 == 2) {
        System.out.println("~ " + (from - before.size()) + " " + from);
        before.forEach(Rest::close);
        store.settled().block();
        System.out.println("- " + (from - before.size()) + " " + from);
      }
      before = rests;
      from = to;
    }
  }

  static JournalOptions options(Path directory, EngineKind engine) {
    return JournalOptions.defaults(directory).withEngine(engine).withSegmentBytes(1 << 20).withIoThreads(2);
  }
}
