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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Sinks;

/// A row of another length than the layout's is refused: a copy in part would leave bytes of another prompt in a slot.
@Timeout(60)
final class EngineRowsTest {
  private static final CacheSpace SPACE = CacheSpace.of("m", BlockLayout.attention(2, 16, 2, 64, ElementType.BF16));
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int ROW_BYTES = 256;
  /// Slices of one layer of a block, and windows of one block.
  private static final SliceShape BY_LAYER =
      SliceShape.defaults().withWindowBlocks(1).withSliceBytes(SPACE.layout().layerBytes());

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
    return OffloadPrefix.rows(tier, keys, SliceShape.defaults().withWindowBlocks(1), source, rows).count()
        .blockOptional(PATIENCE)
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

  /// The rows of an engine that computes layer after layer, and says what it has heard.
  private static final class LayeredRows implements EngineRows {
    final List<String> heard = new CopyOnWriteArrayList<>();
    final List<Sinks.Empty<Void>> computed =
        Stream.generate(() -> Sinks.<Void>empty()).limit(SPACE.layout().layers()).toList();
    final MemorySegment row = bytes(ROW_BYTES, 0x11);

    @Override
    public MemorySegment row(int layer, int plane, int token) {
      String line = "row of layer " + layer;
      if (heard.isEmpty() || !heard.getLast().equals(line)) {
        heard.add(line);
      }
      return row;
    }

    @Override
    public void found(int blocks) {
      heard.add("found " + blocks);
    }

    @Override
    public void loaded(int layer) {
      heard.add("loaded " + layer);
    }

    @Override
    public Publisher<?> computed(int layer, int tokens) {
      heard.add("waits for layer " + layer + " of " + tokens + " tokens");
      return computed.get(layer).asMono();
    }
  }

  @Test
  void rowsAreRead_whenTheirLayerIsComputed_andNotBefore() {
    LayeredRows rows = new LayeredRows();
    CompletableFuture<Long> stored =
        OffloadPrefix.rows(tier, stored(1), BY_LAYER, source, rows).count().toFuture();
    assertThat(rows.heard).containsExactly("waits for layer 0 of 16 tokens");

    rows.computed.get(0).tryEmitEmpty().orThrow();
    assertThat(rows.heard.subList(1, rows.heard.size())).as("layer 0 goes before layer 1 is computed")
        .containsExactly("row of layer 0", "waits for layer 1 of 16 tokens");
    assertThat(stored).isNotDone();

    rows.computed.get(1).tryEmitEmpty().orThrow();
    assertThat(stored).succeedsWithin(PATIENCE).isEqualTo(1L);
  }

  @Test
  void layerThatIsNotComputed_failsTheOffload_andFreesItsMemory() {
    LayeredRows rows = new LayeredRows();
    CompletableFuture<Long> stored =
        OffloadPrefix.rows(tier, stored(1), BY_LAYER, source, rows).count().toFuture();
    rows.computed.get(0).tryEmitError(new IllegalStateException("the engine stopped")).orThrow();

    assertThat(stored).failsWithin(PATIENCE).withThrowableThat().withMessageContaining("the engine stopped");
    assertThat(load(stored(1), (layer, plane, token) -> rows.row)).isZero();
    assertThat(arena.claimedSlots()).isZero();
  }

  @Test
  void engine_hearsHowMuchComes_andEachLayerWhenItsRowsAreWritten() {
    MemorySegment whole = bytes(ROW_BYTES, 0x11);
    offload(stored(3), (layer, plane, token) -> whole);
    LayeredRows rows = new LayeredRows();

    SliceShape layers = SliceShape.defaults().withSliceBytes(3 * SPACE.layout().layerBytes());
    assertThat(LoadPrefix.rows(tier, stored(5), layers, rows).block(PATIENCE)).isEqualTo(3);

    assertThat(rows.heard).containsExactly("found 3", "row of layer 0", "loaded 0", "row of layer 1", "loaded 1");
  }

  @Test
  void engine_hearsNothing_ofAPrefixThatTheTierLacks() {
    LayeredRows rows = new LayeredRows();
    assertThat(load(other, rows)).isZero();
    assertThat(rows.heard).isEmpty();
  }

  @Test
  void slicesThatCutALayer_countIt_onceAllOfItsRowsAreWritten() {
    MemorySegment whole = bytes(ROW_BYTES, 0x11);
    offload(stored(2), (layer, plane, token) -> whole);
    LayeredRows rows = new LayeredRows();
    SliceShape fine = SliceShape.defaults().withSliceBytes(2 * ROW_BYTES);

    assertThat(LoadPrefix.rows(tier, stored(2), fine, rows).block(PATIENCE)).isEqualTo(2);

    assertThat(rows.heard).containsExactly("found 2", "row of layer 0", "loaded 0", "row of layer 1", "loaded 1");
  }

  @Test
  void errorOfAnEngine_thatHearsOfALayer_failsTheLoad() {
    MemorySegment whole = bytes(ROW_BYTES, 0x11);
    assertThat(offload(stored(1), (layer, plane, token) -> whole)).isOne();
    EngineRows broken = new EngineRows() {
      @Override
      public MemorySegment row(int layer, int plane, int token) {
        return whole;
      }

      @Override
      public void loaded(int layer) {
        throw new NoSuchFieldError("of a library");
      }
    };
    CompletableFuture<Integer> load = LoadPrefix.rows(tier, stored(1), SliceShape.defaults(), broken).toFuture();
    assertThat(load).failsWithin(PATIENCE).withThrowableThat().havingRootCause()
        .isInstanceOf(NoSuchFieldError.class);
  }

  /// Keys of the first `blocks` blocks of a prompt.
  private static List<BlockKey> stored(int blocks) {
    return SPACE.keys(new int[blocks * 16]);
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
