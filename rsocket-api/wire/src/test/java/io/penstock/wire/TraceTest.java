package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.report.CarriedCount;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.report.StreamListener;
import io.penstock.wire.trace.TraceContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import reactor.util.context.Context;

final class TraceTest {
  private static final TraceContext TRACE =
      new TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

  @Test
  void metadata_bringsTheTrace_andNoneCostsNoByte() {
    ByteBuf traced = RequestMetadata.write(Routes.GET, TRACE, UnpooledByteBufAllocator.DEFAULT);
    ByteBuf plain = RequestMetadata.write(Routes.GET, null, UnpooledByteBufAllocator.DEFAULT);
    ByteBuf before = RequestMetadata.write(Routes.GET, UnpooledByteBufAllocator.DEFAULT);

    assertThat(plain).isEqualTo(before);
    assertThat(RequestMetadata.read(traced, "application/cbor"))
        .isEqualTo(new RequestMetadata(Routes.GET, "application/cbor", TRACE));
    assertThat(RequestMetadata.read(plain, "application/cbor").trace()).isNull();
    List.of(traced, plain, before).forEach(ByteBuf::release);
  }

  @Test
  void whatIsNoTrace_isRefusedHere_andIgnoredFromAClient() {
    for (String wrong : List.of("", "00-" + "0".repeat(32) + "-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-" + "0".repeat(16) + "-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01")) {
      assertThatThrownBy(() -> new TraceContext(wrong)).isInstanceOf(IllegalArgumentException.class);
      assertThat(TraceContext.parse(wrong)).isEmpty();
    }
    assertThat(TraceContext.of(TRACE.in(Context.empty()))).isEqualTo(TRACE);
    assertThat(TraceContext.of(Context.empty())).isNull();
  }

  @Test
  void theEndOfAStream_isReportedOnceWithItsTrace() {
    List<StreamListener.Report> reports = new ArrayList<>();
    CarriedCount all = new CarriedCount();
    StreamClock clock = StreamClock.of(reports::add, Routes.GET, "here", true, all, TRACE);
    clock.waits(StreamClock.Wait.PEER);
    clock.count(4096, true);
    clock.ended(null);
    clock.ended(new IllegalStateException("a second end"));

    assertThat(reports).singleElement().satisfies(report -> {
      assertThat(report.trace()).isEqualTo(TRACE);
      assertThat(report.route()).isEqualTo("get");
      assertThat(report.carrier()).isEqualTo(Carrier.SHARED_MEMORY);
    });
    assertThat(all.byCarrier()).isEqualTo(Map.of(Carrier.SHARED_MEMORY, 4096L));
  }

  @Test
  void aClockWithoutAListener_countsForTheNodeAlone() {
    CarriedCount all = new CarriedCount();
    StreamClock clock = StreamClock.of(StreamListener.noop(), Routes.PUT, "here", false, all, null);
    clock.waits(StreamClock.Wait.TIER);
    clock.count(10, false);
    clock.ended(null);

    assertThat(all.byCarrier()).isEqualTo(Map.of(Carrier.INLINE, 10L));
  }
}
