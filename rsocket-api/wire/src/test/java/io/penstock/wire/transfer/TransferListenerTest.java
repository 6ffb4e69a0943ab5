package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import io.penstock.wire.transfer.TransferListener.BatchReport;
import io.penstock.wire.transfer.TransferListener.Cause;
import io.penstock.wire.transfer.TransferListener.ItemReport;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.MessageFormatter;
import reactor.test.scheduler.VirtualTimeScheduler;

final class TransferListenerTest {
  private static final Duration MOST_BACKOFF = Duration.ofMillis(20);

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(64);
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final FakePeer peer = new FakePeer(Map.of("kv", memory));
  private final List<ItemReport> items = new ArrayList<>();
  private final List<BatchReport> batches = new ArrayList<>();
  private final List<String> told = new ArrayList<>();
  private final TransferListener listener = new TransferListener() {
    @Override
    public void ended(ItemReport item) {
      items.add(item);
    }

    @Override
    public void finished(BatchReport batch) {
      batches.add(batch);
    }

    @Override
    public void connected(String address, String transport, long nanos) {
      told.add("connected by " + transport);
    }

    @Override
    public void unreachable(String address, Throwable cause) {
      told.add("unreachable");
    }

    @Override
    public void disconnected(String address, String transport, Cause why) {
      told.add("disconnected " + why);
    }

    @Override
    public void retried(String address, Throwable cause) {
      told.add("retried");
    }
  };
  private final TransferEngine engine = new TransferEngine(TransferOptions.defaults(), peer, time,
      new SplittableRandom(5), TransferListener.all(List.of(TransferListener.noop(), listener)));

  @AfterEach
  void free() {
    arena.close();
  }

  private Transfer reads(int count) {
    TransferBatch.Builder batch = TransferBatch.builder();
    for (int i = 0; i < count; i++) {
      batch.read("peer", "kv", i, memory.asSlice(i, 1));
    }
    return engine.submit(batch.build());
  }

  @Test
  void items_areTold_withTheirTimesAndTheirFailures() {
    Transfer transfer = reads(3);
    assertThat(engine.stat()).isEqualTo(new TransferEngine.Stat(1, 3, 3, 0));
    peer.calls.get(0).end(null);
    peer.calls.get(1).end(new SegmentLink.CorruptException(0, 1, 2));
    time.advanceTimeBy(MOST_BACKOFF);
    peer.calls.get(3).end(new SegmentLink.CorruptException(0, 1, 2));
    peer.quickToStop = true;
    transfer.cancel();

    assertThat(items).extracting(ItemReport::failure).containsExactly(null, TransferFailure.CORRUPT,
        TransferFailure.CANCELLED);
    assertThat(items).extracting(ItemReport::attempts).containsExactly(1, 2, 1);
    assertThat(items).allSatisfy(item -> {
      assertThat(item.transport()).isEqualTo("other");
      assertThat(item.times().total()).isPositive();
      assertThat(item.times().transfer()).isPositive();
    });
    assertThat(told).containsExactly("connected by other", "retried");
    BatchReport batch = batches.getFirst();
    assertThat(batch.result().count(TransferState.COMPLETED)).isOne();
    assertThat(batch.peers()).containsExactly("peer");
    assertThat(batch.nanos()).isGreaterThanOrEqualTo(batch.longest().transfer());
    assertThat(MessageFormatter.arrayFormat(SlowTransferLog.PATTERN, SlowTransferLog.arguments(batch)).getMessage())
        .startsWith("slow transfer: ").contains("for 1 bytes of 3 items",
            "peers [peer] over [other]; longest of an item: connect ", " ms, verify 0 ms");
  }

  @Test
  void connections_areTold() {
    peer.refusal = new TransientKvException("not now");
    reads(1);
    time.advanceTimeBy(MOST_BACKOFF);
    assertThat(told).containsExactly("unreachable", "retried", "unreachable");
    assertThat(items).extracting(ItemReport::failure).containsExactly(TransferFailure.LOST);
    peer.refusal = null;
    told.clear();

    reads(1);
    peer.calls.getFirst().end(null);
    time.advanceTimeBy(Duration.ofSeconds(60));
    peer.quickToStop = true;
    reads(1);
    peer.links.getLast().close();
    time.advanceTimeBy(MOST_BACKOFF);
    peer.open().getFirst().end(null);
    engine.close().block();

    assertThat(told).containsExactly("connected by other", "disconnected IDLE", "connected by other",
        "disconnected LOST", "retried", "connected by other", "disconnected CLOSED");
  }
}
