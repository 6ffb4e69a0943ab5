package io.penstock.s3.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.penstock.s3.body.BodyChecks;
import io.penstock.s3.body.PlainBody;
import io.penstock.s3.object.Incoming;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.test.StepVerifier;

final class RequestBodyTest {
  private static final long ROOM = TimeUnit.MILLISECONDS.toNanos(400);

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicLong now = new AtomicLong();
  private final List<ByteBuf> sent = new ArrayList<>();

  @AfterEach
  void everyBuffer_isGivenBack() {
    channel.advanceTimeBy(2, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    assertThat(sent).allMatch(each -> each.refCnt() == 0);
    var _ = channel.close();
  }

  private RequestBody body(long length, HttpHeaders headers) {
    channel.freezeTime();
    return new RequestBody(channel, length, new PlainBody(length), new BodyChecks(headers), now::get, ROOM,
        reads::incrementAndGet);
  }

  private ByteBuf piece(int bytes) {
    ByteBuf piece = Unpooled.wrappedBuffer(new byte[bytes]);
    sent.add(piece);
    return piece;
  }

  private void pass(long millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
  }

  /// A reader that asks when it is told to.
  private static final class Slow extends BaseSubscriber<MemorySegment> {
    private int came;

    @Override
    protected void hookOnSubscribe(Subscription subscription) {}

    @Override
    protected void hookOnNext(MemorySegment bytes) {
      came += (int) bytes.byteSize();
    }

    @Override
    protected void hookOnError(Throwable failure) {}
  }

  @Test
  void theSocket_isReadOnlyWhenTheReaderAsks() {
    RequestBody body = body(30, new DefaultHttpHeaders());
    Slow reader = new Slow();
    body.bytes().subscribe(reader);
    assertThat(reads).hasValue(0);
    reader.request(1);
    assertThat(reads).hasValue(1);
    body.came(piece(10), false);
    assertThat(reads).hasValue(1);
    assertThat(sent.getFirst().refCnt()).isEqualTo(2);
    reader.request(1);
    assertThat(sent.getFirst().refCnt()).isZero();
    assertThat(reads).hasValue(2);
    body.came(piece(20), true);
    reader.request(1);
    assertThat(reader.came).isEqualTo(30);
    StepVerifier.create(body.whole()).verifyComplete();
  }

  /// Fills `memory`; the list has one element when that is done, -1 if it failed.
  private static List<Integer> filled(Incoming.Filling filling, MemorySegment memory) {
    List<Integer> ends = new ArrayList<>();
    filling.fill(memory).subscribe(nothing -> {}, failure -> ends.add(-1), () -> ends.add(1));
    return ends;
  }

  @Test
  void memoryIsFilledAsItComes_andTheLastOfIt_whenTheBodyIsVerified() {
    RequestBody body = body(30, new DefaultHttpHeaders());
    Incoming.Filling filling = body.filling();
    assertThat(reads).as("before there is memory").hasValue(0);
    byte[] first = new byte[20];
    byte[] second = new byte[10];
    List<Integer> one = filled(filling, MemorySegment.ofArray(first));
    ByteBuf all = piece(30).setByte(19, 1).setByte(20, 2).setByte(29, 3);
    body.came(all, false);
    assertThat(one).containsExactly(1);
    assertThat(reads).as("while there is no more memory").hasValue(1);
    List<Integer> other = filled(filling, MemorySegment.ofArray(second));
    assertThat(first[19]).isEqualTo((byte) 1);
    assertThat(second).startsWith((byte) 2).endsWith((byte) 3);
    assertThat(other).as("the end has not come").isEmpty();
    body.came(Unpooled.EMPTY_BUFFER, true);
    assertThat(other).containsExactly(1);
    filling.dispose();
    StepVerifier.create(body.whole()).verifyComplete();
  }

  @Test
  void memoryOfABodyThatIsNotWhatItsClientSent_isNeverFull() {
    HttpHeaders headers = new DefaultHttpHeaders().set("x-amz-checksum-crc32", "AAAAAA==");
    RequestBody body = body(30, headers);
    List<Integer> ends = filled(body.filling(), MemorySegment.ofArray(new byte[30]));
    body.came(piece(30).setByte(0, 1), true);
    assertThat(ends).containsExactly(-1);
    StepVerifier.create(body.whole()).verifyError();
  }

  @Test
  void aFillingThatIsGivenUp_touchesNothingMore_andTheRestIsRead() {
    RequestBody body = body(30, new DefaultHttpHeaders());
    Incoming.Filling filling = body.filling();
    byte[] memory = new byte[30];
    Disposable filled = filling.fill(MemorySegment.ofArray(memory)).subscribe();
    body.came(piece(10).setByte(9, 1), false);
    filled.dispose();
    filling.dispose();
    body.came(piece(20).setByte(0, 2), true);
    assertThat(memory[9]).isEqualTo((byte) 1);
    assertThat(memory[10]).isZero();
    StepVerifier.create(body.whole()).verifyComplete();
  }

  @Test
  void aReaderThatWaitsTooLongInAll_isGivenUp_andTheRestIsRead() {
    RequestBody body = body(40, new DefaultHttpHeaders());
    List<Boolean> given = new ArrayList<>();
    body.givenUp().subscribe(given::add);
    Slow reader = new Slow();
    body.bytes().subscribe(reader);
    reader.request(1);
    body.came(piece(10), false);
    pass(300);
    assertThat(given).isEmpty();
    reader.request(1); // 0.3 s are used up
    pass(5_000); // of the client, which do not count
    body.came(piece(10), false);
    pass(90);
    assertThat(given).isEmpty();
    pass(20);
    assertThat(given).containsExactly(false);
    reader.cancel();
    body.came(piece(10), false);
    body.came(piece(10), true);
    assertThat(reader.came).isEqualTo(20);
    StepVerifier.create(body.whole()).verifyComplete();
  }

  @Test
  void aStoreThatStalls_beforeOrAfterTheBytes_isGivenUp() {
    RequestBody early = body(10, new DefaultHttpHeaders());
    List<Boolean> given = new ArrayList<>();
    early.givenUp().subscribe(given::add);
    pass(410);
    assertThat(given).containsExactly(false);
    early.drop();
    early.came(piece(10), true);
    StepVerifier.create(early.whole()).verifyComplete();

    RequestBody late = body(10, new DefaultHttpHeaders());
    late.givenUp().subscribe(given::add);
    Slow reader = new Slow();
    late.bytes().subscribe(reader);
    reader.request(2);
    late.came(piece(10), true);
    pass(410);
    assertThat(given).containsExactly(false, false);
    late.answered();
  }

  @Test
  void aBodyThatIsDropped_isComparedAllTheSame() {
    RequestBody body = body(10, new DefaultHttpHeaders().set("x-amz-checksum-crc32", "AAAAAA=="));
    Slow reader = new Slow();
    body.bytes().subscribe(reader);
    reader.cancel();
    body.came(piece(10), true);
    StepVerifier.create(body.whole()).verifyErrorMessage("CRC32 must be that of the body (was another)");
  }

  @Test
  void aConnectionThatEnds_endsTheBody() {
    RequestBody body = body(20, new DefaultHttpHeaders());
    Slow reader = new Slow();
    body.bytes().subscribe(reader);
    reader.request(1);
    body.came(piece(10), false);
    body.fail(new IllegalStateException("gone"));
    assertThat(reader.isDisposed()).isTrue();
    StepVerifier.create(body.whole()).verifyErrorMessage("gone");
  }
}
