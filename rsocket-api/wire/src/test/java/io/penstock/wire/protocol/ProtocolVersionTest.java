package io.penstock.wire.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.SliceShape;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.disagg.request.Signal;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierStat;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Names of fields and words of version 1 of the protocol, letter by letter: a record or a constant of the kernel that
/// gets another name must not change them.
final class ProtocolVersionTest {
  private static final TierStat PLAIN = new TierStat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, List.of());
  private static final TierStat FULL = new TierStat(1, Long.MAX_VALUE, 3, 4, 5, 6, 7, 8, 9, 10,
      List.of(
          new TierStat.Level("hbm", Medium.DEVICE, 1, 2, 3, 4, 5, StoreHealth.GOOD,
              new TierStat.Copies("sim", 1, 2, 3, 4, 5), null),
          new TierStat.Level("ssd", Medium.DISK, 1, 2, 3, 4, 5, new StoreHealth(StoreHealth.State.DEGRADED, "full"),
              null, new TierStat.Disk(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, List.of("late")))),
      new TierStat.Tiering(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13),
      List.of(new TierStat.Memory("huge", "2 MiB pages", 1, 2, null, true),
          new TierStat.Memory("huge", "2 MiB pages", 1, 2, 1, false)),
      new TierStat.Holds(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  private static final String STAT = """
      {"node":"node","tier":"stack","medium":"HOST","stat":{"blocks":1,"capacityBlocks":9223372036854775807,\
      "bytes":3,"claimedBytes":4,"hits":5,"misses":6,"stored":7,"evicted":8,"corrupt":9,"lastSequence":10,\
      "levels":[{"name":"hbm","medium":"DEVICE","capacityBlocks":1,"blocks":2,"storedBlocks":3,"hits":4,\
      "arrived":5,"health":{"state":"ACTIVE","problem":null},"copies":{"device":"sim","calls":1,"elements":2,\
      "bytes":3,"fallbacks":4,"failed":5},"disk":null},{"name":"ssd","medium":"DISK","capacityBlocks":1,\
      "blocks":2,"storedBlocks":3,"hits":4,"arrived":5,"health":{"state":"DEGRADED","problem":"full"},\
      "copies":null,"disk":{"unsyncedBytes":1,"unsyncedMillis":2,"syncs":3,"failedSyncs":4,"uncertainBytes":5,\
      "segments":6,"heldBytes":7,"liveBytes":8,"putBytes":9,"movedBytes":10,"reclaimed":11,"scrubPasses":12,\
      "scrubbedBytes":13,"damaged":14,"unreadable":15,"unkept":16,"damagedAtOpening":17,"problems":[\
      "late"]}}],"tiering":{"queuedBlocks":1,"queuedBytes":2,"mostQueuedBlocks":3,"queueBlocks":4,\
      "queueMillis":5,"longestMillis":6,"withheld":7,"held":8,"prefetched":9,"useful":10,"wasted":11,\
      "evictedForRoom":12,"aboveWatermark":13},"memory":[{"rung":"huge","pages":"2 MiB pages","bytes":1,\
      "pageBytes":2,"node":null,"locked":true},{"rung":"huge","pages":"2 MiB pages","bytes":1,"pageBytes":2,\
      "node":1,"locked":false}],"holds":{"leases":1,"leasedBlocks":2,"mostLeasedBlocks":3,"softPinned":4,\
      "hardPinned":5,"mostPinned":6,"inUse":7,"leased":8,"softPassed":9,"hardPassed":10}},"inFlightBytes":1,\
      "peakInFlightBytes":2,"budgetBytes":3,"outgoingBytes":4,"draining":true,"spaces":[{"tier":"stack",\
      "medium":"HOST","space":"00ff","model":"model","blockBytes":5,"stat":{"blocks":1,"capacityBlocks":2,\
      "bytes":3,"claimedBytes":4,"hits":5,"misses":6,"stored":7,"evicted":8,"corrupt":9,"lastSequence":10,\
      "levels":[],"tiering":{"queuedBlocks":0,"queuedBytes":0,"mostQueuedBlocks":0,\
      "queueBlocks":9223372036854775807,"queueMillis":0,"longestMillis":0,"withheld":0,"held":0,\
      "prefetched":0,"useful":0,"wasted":0,"evictedForRoom":0,"aboveWatermark":0},"memory":[],"holds":{\
      "leases":0,"leasedBlocks":0,"mostLeasedBlocks":0,"softPinned":0,"hardPinned":0,"mostPinned":0,"inUse":0,\
      "leased":0,"softPassed":0,"hardPassed":0}}}],"carried":{"in":{"inline":1},"out":{"shared-memory":2}}}""";

  private static StatMessages.StatReply reply() {
    return new StatMessages.StatReply("node", "stack", "HOST", StatMessages.TierFigures.of(FULL), 1, 2, 3, 4L, true,
        List.of(new StatMessages.SpaceFigures("stack", "HOST", "00ff", "model", 5,
            StatMessages.TierFigures.of(PLAIN))),
        new StatMessages.Moved(Map.of("inline", 1L), Map.of("shared-memory", 2L)), null, null);
  }

  @Test
  void figures_haveTheNamesOfVersion1() {
    assertThat(json(reply())).isEqualTo(STAT);
  }

  @Test
  void figures_ofVersion1_areRead() {
    StatMessages.StatReply read = ControlCodec.JSON
        .decode(Unpooled.copiedBuffer(STAT, StandardCharsets.UTF_8), StatMessages.StatReply.class);
    assertThat(read).isEqualTo(reply());
    assertThat(read.stat().stat()).isEqualTo(FULL);
    assertThat(read.spaces()).extracting(space -> space.stat().stat()).containsExactly(PLAIN);
  }

  private static String json(Object message) {
    ByteBuf written = ControlCodec.JSON.encode(message, UnpooledByteBufAllocator.DEFAULT);
    try {
      return written.toString(StandardCharsets.UTF_8);
    } finally {
      written.release();
    }
  }

  /// A message has the components of its record and nothing else, whatever questions it answers besides.
  @Test
  void messages_haveTheFieldsOfVersion1() {
    Messages.Keys keys = new Messages.Keys(new byte[16], new byte[0]);
    String keysJson = "{\"space\":\"AAAAAAAAAAAAAAAAAAAAAA==\",\"hashes\":\"\"}";
    assertThat(json(new Messages.GetRequest(keys, "SKIP", "LAYER_FIRST", 0, 4096, 4, 7, 1L, new byte[] {1}, true,
        null, "r")))
        .isEqualTo("{\"keys\":" + keysJson + ",\"onMiss\":\"SKIP\",\"order\":\"LAYER_FIRST\",\"startLayer\":0,"
            + "\"maxSliceBytes\":4096,\"windowBlocks\":4,\"ticket\":7,\"lease\":1,\"proof\":\"AQ==\","
            + "\"verifies\":true,\"request\":\"r\"}");
    assertThat(json(new Messages.EventsRequest(5, 6L, new byte[] {1}, true)))
        .isEqualTo("{\"after\":5,\"generation\":6,\"space\":\"AQ==\",\"snapshot\":true}");
    assertThat(json(new HoldMessages.RemoveRequest(null, "ab", null, true, new byte[] {1})))
        .isEqualTo("{\"pattern\":\"ab\",\"force\":true,\"space\":\"AQ==\"}");
    assertThat(json(new HoldMessages.PinRequest(keys, new HoldMessages.PinWanted("SOFT", 9L))))
        .isEqualTo("{\"keys\":" + keysJson + ",\"pin\":{\"kind\":\"SOFT\",\"millis\":9}}");
    assertThat(json(new PutMessages.PutRequest(keys, 4096, 4, 7, null, "g", true, true)))
        .isEqualTo("{\"keys\":" + keysJson + ",\"maxSliceBytes\":4096,\"windowBlocks\":4,\"ticket\":7,"
            + "\"group\":\"g\",\"upsert\":true,\"outcomes\":true}");
    assertThat(json(new DisaggMessages.HeartbeatRequest(new DisaggMessages.Who("prefill", 1, 2), true, null)))
        .isEqualTo("{\"who\":{\"instance\":\"prefill\",\"rank\":1,\"generation\":2},\"leaving\":true}");
    assertThat(json(new Handshake.Hello(List.of(1), null, "c", null, List.of("views"))))
        .isEqualTo("{\"versions\":[1],\"client\":\"c\",\"features\":[\"views\"]}");
    CacheSpace sliding = new CacheSpace("m", BlockLayout.attention(2, 16, 1, 8, Plane.ElementType.BF16),
        new CacheSpace.Group(1, 64, 0, List.of(0, 3)), "");
    assertThat(json(Handshake.Space.of(sliding))).endsWith(
        ",\"group\":1,\"kind\":{\"windowTokens\":64,\"stateTokens\":0,\"layers\":[0,3]}}");
    assertThat(json(Handshake.Space.of(CacheSpace.of("m", sliding.layout())))).endsWith(",\"group\":0}");
    assertThat(Handshake.Space.of(sliding).withoutSalt()).isEqualTo(sliding);
    assertThat(json(new SegmentMessages.ItemRequest(1, 2, 3, 4, 5, 6)))
        .isEqualTo("{\"generation\":1,\"segment\":2,\"offset\":3,\"length\":4,\"maxSliceBytes\":5,\"item\":6}");
  }

  /// Fields that say what became of a request came later: an answer without them keeps its bytes, and is read.
  @Test
  void answersThatSayMore_addFields_andThoseOfEarlierNodesAreRead() {
    assertThat(json(new DisaggMessages.SignalReply(true, null, null))).isEqualTo("{\"acknowledged\":true}");
    assertThat(json(DisaggMessages.SignalReply.of(new RequestAnswer(Outcome.OVER, Release.EXPIRED))))
        .isEqualTo("{\"acknowledged\":true,\"outcome\":\"OVER\",\"release\":\"EXPIRED\"}");
    assertThat(json(DisaggMessages.KeepReply.of(new RequestAnswer(Outcome.REPEATED, null), true)))
        .isEqualTo("{\"kept\":true,\"outcome\":\"REPEATED\"}");
    RequestAnswer unsaid = new RequestAnswer(Outcome.ACKNOWLEDGED, null);
    assertThat(read("{\"acknowledged\":true}", DisaggMessages.SignalReply.class).answer()).isEqualTo(unsaid);
    assertThat(read("{\"kept\":false,\"outcome\":\"LATER_WORD\"}", DisaggMessages.KeepReply.class).answer())
        .isEqualTo(unsaid);
    assertThat(read("{\"kept\":false,\"outcome\":\"OVER\"}", DisaggMessages.KeepReply.class).answer()).as("no release")
        .isEqualTo(unsaid);
    assertThat(read("{\"kept\":true}", DisaggMessages.KeepReply.class).answer().isKept()).isTrue();
    assertThat(read("{\"kept\":false}", DisaggMessages.KeepReply.class).answer()).as("kept nothing")
        .isEqualTo(new RequestAnswer(Outcome.OVER, Release.DONE));
    assertThat(read("{\"kept\":false}", DisaggMessages.KeepReply.class).ended()).as("withdrawn, or not")
        .isEqualTo(unsaid);
    List<KeyOutcome> outcomes = List.of(KeyOutcome.OK, KeyOutcome.UNCHANGED, KeyOutcome.NOT_FOUND);
    HoldMessages.Outcomes unpinned = HoldMessages.Outcomes.of(outcomes);
    assertThat(json(unpinned)).isEqualTo(
        "{\"size\":3,\"bits\":\"Aw==\",\"outcomes\":[{\"position\":2,\"code\":-704}],\"unchanged\":\"Ag==\"}");
    assertThat(unpinned.outcomes(3)).isEqualTo(outcomes);
    Messages.Keys keys = new Messages.Keys(new byte[16], new byte[0]);
    assertThat(json(new Messages.KeysRequest(keys))).doesNotContain("durability");
    assertThat(json(new Messages.KeysRequest(keys, null, "WRITTEN"))).endsWith(",\"durability\":\"WRITTEN\"}");
    Messages.ExistsReply earlier = read("{\"size\":1,\"bits\":\"AQ==\"}", Messages.ExistsReply.class);
    assertThatThrownBy(() -> earlier.of(1, Durability.WRITTEN)).as("a node that ignored the question")
        .hasMessageContaining("durability must be repeated by the node");
  }

  private static <T> T read(String json, Class<T> type) {
    return ControlCodec.JSON.decode(Unpooled.copiedBuffer(json, StandardCharsets.UTF_8), type);
  }

  @Test
  void words_areThoseOfVersion1() {
    assertThat(words(Medium.values())).isEqualTo("DEVICE HOST DISK REMOTE");
    assertThat(words(StoreHealth.State.values())).isEqualTo("ACTIVE DEGRADED OFF");
    assertThat(words(OnMiss.values())).isEqualTo("SKIP AWAIT ADMIT");
    assertThat(words(SliceShape.Order.values())).isEqualTo("LAYER_FIRST BLOCK_FIRST");
    assertThat(words(Durability.values())).isEqualTo("VOLATILE WRITTEN FORCED");
    assertThat(words(Pin.Kind.values())).isEqualTo("NONE SOFT HARD");
    assertThat(words(TokenOrder.values())).isEqualTo("NHD HND");
    assertThat(words(Plane.Kind.values())).isEqualTo("KEY VALUE LATENT ROPE INDEXER SCALES STATE CONVOLUTION");
    assertThat(words(Plane.ElementType.values())).isEqualTo("BF16 FP16 FP32 FP8_E4M3 FP8_E5M2 INT8");
    assertThat(words(Signal.Kind.values())).isEqualTo("DONE RENEW CANCEL REJECT");
    assertThat(words(Outcome.values()))
        .isEqualTo("APPLIED EARLY REPEATED OVER STALE STRANGER FULL UNKNOWN ACKNOWLEDGED");
    assertThat(words(Release.values())).isEqualTo("DONE CANCELLED REJECTED EXPIRED WITHDRAWN");
    assertThat(words(Registration.Side.values())).isEqualTo("PREFILL DECODE");
    assertThat(words(InstanceView.State.values())).isEqualTo("COMING READY FAILED");
  }

  private static String words(Enum<?>[] constants) {
    return String.join(" ", Arrays.stream(constants).map(Enum::name).toList());
  }
}
