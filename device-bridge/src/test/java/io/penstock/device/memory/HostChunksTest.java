package io.penstock.device.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class HostChunksTest {
  private static final long PIECE = 1 << 20;

  private final MemoryFigures figures = new MemoryFigures();
  private final MappedMemory source = new MappedMemory(MappedOptions.defaults().withPages(MemoryPages.PLAIN), figures);

  private long mapped() {
    long bytes = 0;
    for (PageKind kind : PageKind.values()) {
      bytes += figures.bytes(kind);
    }
    return bytes;
  }

  @Test
  void chunks_lieBehindOneAnother_andBeginAtCacheLines() {
    HostChunks chunks = HostChunks.of(source, PIECE);
    MemorySegment first = chunks.chunk(100);
    MemorySegment second = chunks.chunk(1000);
    assertThat(second.address()).isEqualTo(first.address() + 128);
    assertThat(first.address() % 64).isZero();
    assertThat(mapped()).isEqualTo(PIECE);
    assertThat(chunks.chunk(3 * PIECE).byteSize()).isEqualTo(3 * PIECE);
    assertThat(mapped()).isEqualTo(4 * PIECE);
    chunks.close();
    assertThat(mapped()).isZero();
    assertThat(first.scope().isAlive()).isFalse();
  }

  @Test
  void offeredPieces_areUsedFirst_butForChunksThatTheyAreTooShortFor() {
    HostChunks chunks = HostChunks.of(source, PIECE);
    HostMemory small = source.map(PIECE / 2);
    HostMemory large = source.map(2 * PIECE);
    chunks.offer(small);
    chunks.offer(large);
    assertThat(chunks.chunk(PIECE).address()).isEqualTo(large.address());
    assertThat(chunks.chunk(PIECE).address()).isEqualTo(large.address() + PIECE);
    long before = mapped();
    assertThat(chunks.chunk(100).byteSize()).isEqualTo(100);
    assertThat(mapped()).isEqualTo(before + PIECE);
    chunks.close();
    assertThat(small.isClosed()).isTrue();
    assertThat(mapped()).isZero();
  }

  @Test
  void offeredPiece_afterTheEnd_isGivenBackAtOnce() {
    HostChunks chunks = HostChunks.of(source, PIECE);
    chunks.close();
    HostMemory late = source.map(PIECE);
    chunks.offer(late);
    assertThat(late.isClosed()).isTrue();
  }

  @Test
  void oneGivenPiece_endsWhenItIsUsed() {
    HostChunks chunks = HostChunks.of(source.map(PIECE));
    assertThat(chunks.chunk(PIECE).byteSize()).isEqualTo(PIECE);
    assertThatThrownBy(() -> chunks.chunk(1)).isInstanceOf(OutOfMemoryError.class);
    chunks.close();
    assertThat(mapped()).isZero();
  }

  @Test
  void arena_onSuchMemory_givesItBackWithItsLastBlock() {
    BlockLayout layout = Blocks.smallLayout();
    try (LeakLedger leaks = new LeakLedger()) {
      SlabArena arena = leaks.watch(new SlabArena("mapped", layout, 100, 4, HostChunks.of(source, PIECE)));
      Block block = Blocks.block(arena, Blocks.key(Blocks.smallSpace(), 7));
      Blocks.assertBytes(block);
      arena.close();
      assertThat(mapped()).isEqualTo(PIECE);
      block.close();
    }
    assertThat(mapped()).isZero();
  }

  @Test
  void pieces_areAtMostOneGibibyte() {
    assertThatThrownBy(() -> HostChunks.of(source, (1 << 30) + 1L))
        .hasMessage("pieceBytes must be in [1, 1073741824] (was 1073741825)");
  }
}
