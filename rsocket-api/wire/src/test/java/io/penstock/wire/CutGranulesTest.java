package io.penstock.wire;

import static io.penstock.wire.WireNode.PATIENCE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.slice.SliceHeader;
import io.rsocket.RSocket;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Blocks whose granules are longer than a slice: their rows travel with the checksum of the whole granule.
@Timeout(60)
final class CutGranulesTest {
  /// 12 KiB a granule: three slices, on which no part of another granule travels.
  private static final BlockLayout LAYOUT = BlockLayout.attention(2, 96, 2, 32, ElementType.BF16);
  private static final CacheSpace SPACE = CacheSpace.of("cut", LAYOUT);
  private static final int WINDOW = 4;
  private static final int OF_GRANULES = 4;
  private static final int REFERRING = 1;

  private static WireNode node(Link link) {
    return WireNode.of(link, SPACE, WINDOW);
  }

  @ParameterizedTest
  @EnumSource
  void damagedBlock_isATypedError_andLeavesTheNode(Link link) {
    try (WireNode node = node(link); BlockScope scope = new BlockScope()) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.stored(client, 10);
      assertThat(node.get(client, keys, OnMiss.SKIP).block(PATIENCE)).isEqualTo(10L * LAYOUT.blockBytes());
      Blocks.corrupt(requireNonNull(node.tier.get(keys.subList(6, 7), scope).blockFirst(PATIENCE)), 13_000);
      assertThatThrownBy(() -> node.get(client, keys, OnMiss.SKIP).block(PATIENCE))
          .isInstanceOfSatisfying(BlockCorruptException.class, e -> {
            assertThat(e.key()).isEqualTo(keys.get(6));
            assertThat(e.granule()).isEqualTo(1);
          });
      assertThat(node.get(client, keys, OnMiss.SKIP).block(PATIENCE)).isEqualTo(9L * LAYOUT.blockBytes());
      assertThat(requireNonNull(node.tier.stat().block()).corrupt()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void damagedBlockOfAPut_failsAlone(Link link) {
    try (WireNode node = node(link); BlockScope scope = new BlockScope()) {
      KvClient client = node.client(WINDOW);
      List<BlockKey> keys = node.keys(0, 6);
      List<Block> blocks = keys.stream().map(key -> scope.adopt(Blocks.block(client.arena(), key))).toList();
      Blocks.corrupt(blocks.get(1), LAYOUT.blockBytes() - 1);
      Blocks.corrupt(blocks.get(4), 5_000);
      assertThatThrownBy(
          () -> client.put(keys, PutSource.of(blocks, SliceShape.Order.LAYER_FIRST)).blockLast(PATIENCE))
          .hasMessageContaining("2 of 6 damaged");
      assertThat(requireNonNull(client.contains(keys).block(PATIENCE)).bits().stream()).containsExactly(0, 2, 3, 5);
      assertThat(node.put(client, keys)).hasSize(2);
      assertThat(node.get(client, keys, OnMiss.SKIP).block(PATIENCE)).isEqualTo(6L * LAYOUT.blockBytes());
    }
  }

  @ParameterizedTest
  @EnumSource
  void rows_haveTheChecksumOfTheirGranule_onlyForAClientThatVerifies(Link link) {
    try (WireNode node = node(link)) {
      List<BlockKey> keys = node.stored(node.client(WINDOW), 3);
      RSocket raw = node.raw("application/cbor");
      assertThat(flags(raw, keys, true)).containsExactly(OF_GRANULES);
      assertThat(flags(raw, keys, null)).containsExactly(0);
    }
  }

  private static Set<Integer> flags(RSocket raw, List<BlockKey> keys, @Nullable Boolean verifies) {
    return requireNonNull(raw.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET,
        new Messages.GetRequest(Messages.Keys.of(keys), "SKIP", "LAYER_FIRST", 0, WireNode.SLICE_BYTES, WINDOW, 0, null,
            null, verifies)))
        .skip(1).map(slice -> {
          int flags = slice.sliceData().getUnsignedShortLE(SliceHeader.FLAGS_OFFSET);
          slice.release();
          return flags & ~REFERRING;
        }).collect(Collectors.toSet()).block(PATIENCE));
  }
}
