package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A node and a client that choose all their parts.
@Timeout(60)
final class PenstockNodeTest {
  private static final Duration PATIENCE = WireNode.PATIENCE;
  private static final CacheSpace SPACE = CacheSpace.of("m", BlockLayout.attention(3, 16, 2, 8, ElementType.FP32));
  private static final int TOKENS = 16 * 20 + 5;

  /// Rows of an engine.
  private static final class Cache {
    private final int rowBytes = SPACE.layout().rowBytes(0);
    private final MemorySegment memory = Arena.ofAuto().allocate(3L * 2 * TOKENS * rowBytes);

    MemorySegment row(int layer, int plane, int token) {
      return memory.asSlice((((long) layer * 2 + plane) * TOKENS + token) * rowBytes, rowBytes);
    }

    Cache random(long seed) {
      Random random = new Random(seed);
      for (long i = 0; i < memory.byteSize(); i += Integer.BYTES) {
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, i, random.nextInt());
      }
      return this;
    }
  }

  @Test
  void rowsOfAnEngine_comeBackAsTheyWere_asFarAsBlocksAreWhole() {
    int[] prompt = new Random(1).ints(TOKENS, 0, 1000).toArray();
    PenstockNode node = requireNonNull(PenstockNode.start(SPACE, 100).block(PATIENCE));
    PenstockClient client = requireNonNull(PenstockClient.connect(node.address(), SPACE).block(PATIENCE));
    Cache there = new Cache().random(2);
    Cache here = new Cache();

    assertThat(client.load(prompt, here::row).block(PATIENCE)).isZero();
    assertThat(client.offload(prompt, there::row).block(PATIENCE)).isEqualTo(20);
    assertThat(client.offload(prompt, there::row).block(PATIENCE)).as("the node has them").isZero();
    assertThat(client.load(prompt, here::row).block(PATIENCE)).isEqualTo(320);

    for (int layer = 0; layer < 3; layer++) {
      for (int plane = 0; plane < 2; plane++) {
        for (int token = 0; token < TOKENS; token++) {
          assertThat(here.row(layer, plane, token).mismatch(token < 320
              ? there.row(layer, plane, token)
              : new Cache().row(layer, plane, token))).isEqualTo(-1);
        }
      }
    }
    assertThat(node.toString()).isEqualTo("node " + node.address()
        + ", budget node: 0 of 67108864 bytes in flight, 0 calls wait");
    client.close().block(PATIENCE);
    node.close().block(PATIENCE);
    assertThatThrownBy(() -> PenstockClient.connect(node.address(), SPACE).block(PATIENCE))
        .isInstanceOf(ConnectionLostException.class);
  }

  @Test
  void otherFingerprint_isRefusedByItsName() {
    CacheSpace old = SPACE.withFingerprint("sha256:1");
    PenstockNode node = requireNonNull(PenstockNode.start(old, 4).block(PATIENCE));

    assertThatThrownBy(() -> PenstockClient.connect(node.address(), SPACE.withFingerprint("sha256:2")).block(PATIENCE))
        .isInstanceOf(RemotePermanentException.class).hasMessageContaining("fingerprint")
        .hasMessageContaining("sha256:1").hasMessageContaining("sha256:2");
    requireNonNull(PenstockClient.connect(node.address(), old).block(PATIENCE)).close().block(PATIENCE);
    node.close().block(PATIENCE);
  }

  @Test
  void cancelAfterTheNodeAndTheClientWereHandedOver_closesNeither() {
    CacheSpace space = CacheSpace.of("kept", BlockLayout.attention(2, 16, 1, 64, ElementType.BF16));
    PenstockNode node = requireNonNull(PenstockNode.start(space, 8).flux().blockFirst(PATIENCE));
    PenstockClient client =
        requireNonNull(PenstockClient.connect(node.address(), space).flux().blockFirst(PATIENCE));

    assertThat(client.tier().match(space.keys(new int[32])).block(PATIENCE)).isZero();

    client.close().block(PATIENCE);
    node.close().block(PATIENCE);
  }
}
