package io.penstock.wire.client.put;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Blocks;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.test.publisher.TestPublisher;

/// Receipts leave one by one, as the reader asks; the node is asked for few answers ahead.
final class ReceiptStreamTest {
  private static final List<Receipt> RECEIPTS = Blocks.keys(Blocks.smallSpace(), 0, 6).stream()
      .map(key -> new Receipt(key, "dram", Durability.VOLATILE, 1)).toList();

  private final TestPublisher<List<Receipt>> node = TestPublisher.create();
  private final List<Receipt> read = new ArrayList<>();
  private final List<Object> ends = new ArrayList<>();
  private final BaseSubscriber<Receipt> reader = new BaseSubscriber<>() {
    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // asks later
    }

    @Override
    protected void hookOnNext(Receipt receipt) {
      read.add(receipt);
    }

    @Override
    protected void hookOnError(Throwable error) {
      ends.add(error);
    }

    @Override
    protected void hookOnComplete() {
      ends.add("complete");
    }
  };

  private ReceiptStream opened(Runnable ended) {
    ReceiptStream stream = new ReceiptStream(reader, ended, error -> new IllegalStateException("of the node", error));
    node.flux().subscribe(stream);
    return stream;
  }

  @Test
  void receipts_comeAsTheyAreAskedFor_andTheEndAfterTheLast() {
    opened(() -> {});
    node.next(RECEIPTS.subList(0, 2)).next(List.of()).next(RECEIPTS.subList(2, 3)).complete();
    assertThat(read).isEmpty();
    reader.request(2);
    assertThat(read).isEqualTo(RECEIPTS.subList(0, 2));
    reader.request(1);
    assertThat(read).isEqualTo(RECEIPTS.subList(0, 3));
    assertThat(ends).isEqualTo(List.of("complete"));
  }

  @Test
  void answers_areRequestedAgainWhenTheirReceiptsWereRead() {
    opened(() -> {});
    for (int i = 0; i < 4; i++) {
      node.next(RECEIPTS.subList(i, i + 1));
    }
    node.assertMaxRequested(4);
    reader.requestUnbounded();
    node.next(RECEIPTS.subList(4, 5)).next(RECEIPTS.subList(5, 6)).complete();
    assertThat(read).isEqualTo(RECEIPTS);
    assertThat(ends).isEqualTo(List.of("complete"));
  }

  @Test
  void endThatIsNoEnd_isAnError() {
    IllegalStateException owed = new IllegalStateException("slices are owed");
    opened(() -> {
      throw owed;
    });
    reader.requestUnbounded();
    node.complete();
    assertThat(ends).singleElement().satisfies(end -> assertThat((Throwable) end).hasCause(owed));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void error_endsTheStreamAtOnce_asItIsIfItIsOfThisSide(boolean isOurs) {
    ReceiptStream stream = opened(() -> {});
    node.next(RECEIPTS);
    IllegalArgumentException error = new IllegalArgumentException("no blocks");
    if (isOurs) {
      stream.end(error);
      node.assertCancelled();
    } else {
      node.error(error);
    }
    reader.requestUnbounded();
    assertThat(read).isEmpty();
    assertThat(ends).singleElement().satisfies(end -> assertThat(isOurs ? end : ((Throwable) end).getCause())
        .isEqualTo(error));
  }

  @Test
  void readerThatLeaves_cancelsTheChannel() {
    opened(() -> {});
    node.next(RECEIPTS);
    reader.cancel();
    node.assertCancelled();
    assertThat(read).isEmpty();
    assertThat(ends).isEmpty();
  }
}
