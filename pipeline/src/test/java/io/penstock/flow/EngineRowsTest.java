package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.block.SliceShape;
import io.penstock.stack.HostTier;
import io.penstock.tier.TierListener;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A row of another length than the layout's is refused: a copy in part would leave bytes of another prompt in a slot.
@Timeout(60)
final class EngineRowsTest {
  private static final CacheSpace SPACE = CacheSpace.of("m", BlockLayout.attention(2, 16, 2, 64, ElementType.BF16));
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int ROW_BYTES = 256;

  private final HostTier tier = new HostTier(SPACE, 8, TierListener.noop());
  private final SlabArena arena = new SlabArena("engine", SPACE.layout(), 1, 8);
  private final ProducingSource source = ProducingSource.shared(arena, SliceShape.Order.LAYER_FIRST);
  private final List<BlockKey> stored = SPACE.keys(new int[16]);
  private final List<BlockKey> other = SPACE.keys(new int[] {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});

  @AfterEach
  void close() {
    tier.close().block(PATIENCE);
    arena.close();
  }

  private static MemorySegment bytes(long length, int value) {
    return Arena.ofAuto().allocate(length).fill((byte) value);
  }

  private long offload(List<BlockKey> keys, EngineRows rows) {
    return OffloadPrefix.rows(tier, keys, SliceShape.defaults(), source, rows).count().blockOptional(PATIENCE)
        .orElseThrow();
  }

  private int load(List<BlockKey> keys, EngineRows rows) {
    return LoadPrefix.rows(tier, keys, SliceShape.defaults(), rows).blockOptional(PATIENCE).orElseThrow();
  }

  static Stream<MemorySegment> wrongRows() {
    return Stream.of(bytes(1, 0x22), bytes(100, 0x22), bytes(ROW_BYTES - 1, 0x22), bytes(ROW_BYTES + 1, 0x22),
        MemorySegment.NULL);
  }

  @ParameterizedTest
  @MethodSource("wrongRows")
  void rowOfAnotherLength_isNeitherStoredNorFilled(MemorySegment wrong) {
    MemorySegment whole = bytes(ROW_BYTES, 0x11);
    assertThat(offload(stored, (layer, plane, token) -> whole)).isOne();
    String message = "row (layer 1, plane 0, token 5) must be 256 bytes (was " + wrong.byteSize() + ")";

    assertThatIllegalArgumentException().isThrownBy(() -> offload(other, (layer, plane, token) -> layer == 1
        && token == 5 ? wrong : whole)).withMessage(message);
    assertThat(load(other, (layer, plane, token) -> whole)).as("the node has no part of it").isZero();

    byte[] before = wrong.toArray(ValueLayout.JAVA_BYTE);
    assertThatIllegalArgumentException().isThrownBy(() -> load(stored, (layer, plane, token) -> layer == 1
        && token == 5 ? wrong : whole)).withMessage(message);
    assertThat(wrong.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);

    assertThat(offload(other, (layer, plane, token) -> whole)).as("memory and turns are free").isOne();
  }

  @Test
  void missingRow_isRefusedByName() {
    assertThatIllegalArgumentException().isThrownBy(() -> offload(other, EngineRowsTest::missing))
        .withMessage("row (layer 0, plane 0, token 0) must be 256 bytes (was null)");
  }

  @SuppressWarnings("NullAway") // an engine without null checks
  private static MemorySegment missing(int layer, int plane, int token) {
    @Nullable MemorySegment none = null;
    return none;
  }
}
