package io.penstock.wire.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.testkit.Blocks;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FrameLengthsTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(32, 16, 8, 128, ElementType.BF16);

  @ParameterizedTest
  @ValueSource(ints = {1, 256, 65_536})
  void longest_holdsARequestOfAllKeys_inJson(int maxKeys) {
    FrameLengths lengths = FrameLengths.of(new Limits(4096, 1, maxKeys), LAYOUT);
    CacheSpace space = CacheSpace.of("frames", LAYOUT);
    ByteBuf request = ControlCodec.JSON.encode(new Messages.GetRequest(
        Messages.Keys.of(Blocks.keys(space, 0, maxKeys)), "ADMIT", "BLOCK_FIRST", 31, 8 << 20, 65_536, Long.MAX_VALUE),
        ByteBufAllocator.DEFAULT);

    assertThat(lengths.longest()).isBetween(request.readableBytes() + 1_000, request.readableBytes() + (16 << 10));
    request.release();
  }

  @Test
  void slice_holdsTheMostChecksums() {
    Limits limits = Limits.defaults();
    int granules = 32 * 2;
    int longest = limits.maxSliceBytes() + 72 + 4 * limits.windowBlocks() * (1 + granules);

    assertThat(FrameLengths.of(limits, LAYOUT).slice()).isBetween(limits.maxSliceBytes() + 1_000, longest + (16 << 10));
  }

  @Test
  void lengths_neverExceedThoseOfRSocket() {
    FrameLengths lengths = FrameLengths.of(new Limits(8 << 20, 65_536, 1 << 19), LAYOUT);

    assertThat(lengths.slice()).isLessThanOrEqualTo(lengths.longest());
    assertThat(lengths.longest()).isLessThanOrEqualTo(ConnectionLimits.LONGEST_FRAME);
  }

  @Test
  void bound_givesAServerTheseLengths() {
    FrameLengths lengths = FrameLengths.of(Limits.defaults(), LAYOUT);

    TcpServerOptions bound = lengths.bound(TcpServerOptions.on("127.0.0.1", 0), ReceiveLimits.defaults());

    assertThat(bound.limits().maxFrameBytes()).isEqualTo(lengths.longest()).isLessThan(2 << 20);
    assertThat(bound.receive().askedBytes()).isEqualTo(lengths.slice());
  }
}
