package io.penstock.wire.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.tier.Medium;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.StatMessages;
import io.penstock.wire.protocol.WireFormatException;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.cbor.CBORMapper;

/// What a node of an earlier release leaves out of its figures.
final class OlderNodeTest {
  private static final TierStat.Disk DISK =
      new TierStat.Disk(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, List.of("full"));

  private static TierStat stat(TierStat.Disk disk) {
    TierStat.Level level = new TierStat.Level("ssd", Medium.DISK, 1, 1, 1, 1, 1, StoreHealth.GOOD, null, disk);
    return new TierStat(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, List.of(level));
  }

  private static StatMessages.StatReply reply() {
    return new StatMessages.StatReply("node", "tier", "DISK", StatMessages.TierFigures.of(stat(DISK)), 1, 1, 1, 0L,
        false, List.of(), null, null, null);
  }

  private static TierStat told(ControlCodec codec, String pointer, String... unsaid) throws IOException {
    ObjectMapper mapper = codec == ControlCodec.CBOR ? new CBORMapper() : new JsonMapper();
    ByteBuf bytes = codec.encode(reply(), UnpooledByteBufAllocator.DEFAULT);
    ObjectNode all = (ObjectNode) mapper.readTree(ByteBufUtil.getBytes(bytes));
    bytes.release();
    ((ObjectNode) all.at(pointer)).remove(List.of(unsaid));
    return ServerStat.of(
        codec.decode(Unpooled.wrappedBuffer(mapper.writeValueAsBytes(all)), StatMessages.StatReply.class)).stat();
  }

  @ParameterizedTest
  @EnumSource
  void figuresOfADisk_thatAreNotTold_areNone(ControlCodec codec) throws IOException {
    assertThat(told(codec, "/stat/levels/0/disk")).isEqualTo(stat(DISK));
    assertThat(told(codec, "/stat/levels/0/disk", "damagedAtOpening", "unkept", "problems"))
        .isEqualTo(stat(new TierStat.Disk(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 0, List.of())));
  }

  @ParameterizedTest
  @EnumSource
  void figuresOfATier_mustBeThere(ControlCodec codec) {
    assertThatThrownBy(() -> told(codec, "/stat/levels/0", "storedBlocks")).isInstanceOf(WireFormatException.class);
  }
}
