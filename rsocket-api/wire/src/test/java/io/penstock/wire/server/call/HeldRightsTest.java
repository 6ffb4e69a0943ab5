package io.penstock.wire.server.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFormatException;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.test.publisher.TestPublisher;

/// Rights that are taken away: before a stream is watched, between its payloads, and in the middle of one.
final class HeldRightsTest {
  private final AtomicReference<@Nullable RuntimeException> lack = new AtomicReference<>();
  private final HeldRights held = HeldRights.changing();
  private final Disposable.Composite open = Disposables.composite();
  private final TestPublisher<Payload> source =
      TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
  private final List<String> signals = new ArrayList<>();
  private Runnable duringAPayload = () -> {};

  private void lose() {
    lack.set(new WireFormatException(ErrorCode.FORBIDDEN, "role", "reader", "none"));
  }

  private void stream() {
    ServedStream.channel(rights -> {
      rights.require(lack::get);
      return source.flux();
    }, new ServedStream.Streams(open, held)).subscribe(payload -> {
      signals.add("payload");
      duringAPayload.run();
      payload.release();
    }, error -> signals.add(String.valueOf(error.getMessage())), () -> signals.add("complete"));
  }

  private static Payload payload() {
    return ByteBufPayload.create(ByteBufAllocator.DEFAULT.buffer(8).writeLong(1));
  }

  private void assertEnded(Payload late) {
    assertThat(signals).hasSize(2).first().isEqualTo("payload");
    assertThat(signals.get(1)).contains("role must be reader (was none)");
    source.assertCancelled();
    source.next(late);
    assertThat(late.refCnt()).isZero();
    assertThat(signals).hasSize(2);
    assertThat(held.size()).isZero();
    assertThat(open.size()).isZero();
  }

  @Test
  void right_lostBetweenPayloads_endsTheStream_andReleasesWhatIsLate() {
    stream();
    source.next(payload());
    held.review();
    assertThat(held.size()).isEqualTo(1);

    lose();
    held.review();

    assertEnded(payload());
  }

  @Test
  void right_lostWhileAPayloadIsSent_endsTheStreamAfterIt() {
    stream();
    duringAPayload = () -> {
      lose();
      held.review();
      assertThat(signals).containsExactly("payload"); // signals never overlap
    };

    source.next(payload());

    assertEnded(payload());
  }

  @Test
  void stream_thatEnded_isWatchedNoMore() {
    stream();
    source.complete();
    assertThat(held.size()).isZero();
    lose();
    held.review();
    assertThat(signals).containsExactly("complete");
  }

  @Test
  void right_lostBeforeTheWatch_endsAtOnce() {
    RequestRights rights = new RequestRights();
    rights.require(lack::get);
    lose();
    List<Throwable> reasons = new ArrayList<>();

    Disposable watch = held.hold(rights, reasons::add);
    held.review();

    assertThat(reasons).containsExactly(lack.get());
    assertThat(held.size()).isZero();
    watch.dispose();
    assertThatThrownBy(() -> rights.require(lack::get)).isSameAs(lack.get());
    assertThatThrownBy(rights::requireAll).isSameAs(lack.get());
  }
}
