package io.penstock.lab.torture;

import io.penstock.lab.torture.PhasePage.Lane;
import io.penstock.storage.EngineKind;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import io.penstock.storage.engine.file.PlainEngine;
import io.penstock.tier.spi.StoredBlock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/// A process that puts, removes and reads blocks until it is ended.
final class TortureWriter {
  private static final int HANDS = 2;
  private static final int SPARES = 2;
  private static final int READERS = 2;
  private static final int MOST_TASKS = 4096;
  /// Bytes of a segment that engines use in addition to records, with a margin.
  private static final int MARGIN_BYTES = 160 << 10;
  private static final int FAILED = 3;
  private static final String SEPARATOR = "\t";

  private TortureWriter() {}

  /// Command line of a writer.
  ///
  /// @param directory of the journal
  /// @param notes folder of the [AckLog] and the [PhasePage]
  /// @param next number of the first block that was never put
  /// @param steps after which it ends by itself; endless if 0
  record Orders(Path directory, Path notes, EngineKind engine, SyncMode durability, long seed, long next, int steps) {
    static Orders of(List<String> words) {
      return new Orders(Path.of(words.get(0)), Path.of(words.get(1)), EngineKind.valueOf(words.get(2)),
          SyncMode.valueOf(words.get(3)),
          Long.parseLong(words.get(4)), Long.parseLong(words.get(5)), Integer.parseInt(words.get(6)));
    }

    List<String> words() {
      return List.of(directory.toString(), notes.toString(), engine.name(), durability.name(), Long.toString(seed),
          Long.toString(next),
          Integer.toString(steps));
    }

    String line() {
      return String.join(SEPARATOR, words()) + "\n";
    }

    Path acks() {
      return notes.resolve("acks");
    }

    Path phases() {
      return notes.resolve("phases");
    }

    /// In one of three lives segments end where the next record does not fit; in the others a little earlier, by a
    /// visible order.
    long rollBytes() {
      return seed % 3 == 0 ? Long.MAX_VALUE : TortureJournal.SEGMENT_BYTES - MARGIN_BYTES;
    }
  }

  /// Writes a little to a journal of its own, so that it knows its classes, then waits for its orders on standard
  /// input.
  ///
  /// @param args as [Orders#words()], of the rehearsal
  public static void main(String[] args) {
    try {
      Orders rehearsal = Orders.of(List.of(args));
      Files.createDirectories(rehearsal.notes());
      write(rehearsal);
      BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      String line = orders.readLine();
      if (line != null) {
        endWithParent(orders);
        write(Orders.of(List.of(line.split(SEPARATOR))));
      }
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(FAILED);
    }
  }

  /// Ends with the process that started it, which holds the other end of its standard input and writes no more.
  private static void endWithParent(BufferedReader input) {
    Thread.ofPlatform().daemon().name("torture-parent").start(() -> {
      try {
        input.read();
      } catch (IOException e) {
        // gone as well
      }
      Runtime.getRuntime().halt(0);
    });
  }

  private static void write(Orders orders) throws IOException, InterruptedException {
    try (PhasePage page = PhasePage.open(orders.phases()); AckLog acks = AckLog.create(orders.acks())) {
      ScheduledThreadPoolExecutor timing = timing(page);
      page.begin(Lane.APPENDING, Phase.OPEN);
      JournalOptions options = TortureJournal.options(orders.directory(), orders.engine(), orders.durability());
      WatchedEngine engine = new WatchedEngine(engine(options), page, orders.rollBytes());
      ExecutorService appending = queue(1, "torture-append");
      ExecutorService reading = queue(READERS, "torture-read");
      JournalStore store = JournalStore.open(TortureJournal.SPACE, options, engine, appending, reading,
          Schedulers.fromExecutorService(timing, "torture-sync"));
      CompletableFuture.runAsync(() -> engine.watch(Thread.currentThread()), appending).join();
      page.idle(Lane.APPENDING);
      work(orders, store, acks);
      store.close().block();
      for (ExecutorService each : List.of(appending, reading, timing)) {
        each.shutdown();
        each.awaitTermination(1, TimeUnit.MINUTES);
      }
    }
  }

  private static SegmentEngine engine(JournalOptions options) {
    EngineOptions segments =
        options.segments().withSpareSegments(options.durability().mode() == SyncMode.NONE ? SPARES : 0);
    return options.engine() == EngineKind.PLAIN
        ? PlainEngine.open(options.directory(), segments)
        : ChronicleEngine.open(options.directory(), segments);
  }

  private static ExecutorService queue(int threads, String name) {
    return new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MOST_TASKS),
        task -> Thread.ofPlatform().daemon().name(name).unstarted(task));
  }

  /// The phase of a task of this thread ends with it.
  private static ScheduledThreadPoolExecutor timing(PhasePage page) {
    ScheduledThreadPoolExecutor timing =
        new ScheduledThreadPoolExecutor(1, task -> Thread.ofPlatform().daemon().name("torture-sync").unstarted(task)) {
          @Override
          protected void afterExecute(Runnable task, @Nullable Throwable failure) {
            page.idle(Lane.SYNCING);
          }
        };
    // A rehearsal does not wait for the next look at the disk
    timing.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return timing;
  }

  private static void work(Orders orders, JournalStore store, AckLog acks) {
    AtomicLong next = new AtomicLong(orders.next());
    List<List<StoredBlock>> shares = shares(store.recovered());
    try (ExecutorService hands = Executors.newFixedThreadPool(HANDS)) {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int i = 0; i < HANDS; i++) {
        TortureHand hand =
            new TortureHand(store, acks, orders.seed() * HANDS + i, next, TortureJournal.LIVE_BLOCKS / HANDS);
        List<StoredBlock> share = shares.get(i);
        all.add(CompletableFuture.runAsync(() -> hand.work(share, orders.steps()), hands));
      }
      CompletableFuture.anyOf(all.toArray(CompletableFuture<?>[]::new)).join(); // one that fails ends all
      all.forEach(CompletableFuture::join);
    }
  }

  private static List<List<StoredBlock>> shares(List<StoredBlock> stored) {
    List<List<StoredBlock>> shares = new ArrayList<>();
    for (int i = 0; i < HANDS; i++) {
      int hand = i;
      shares.add(stored.stream().filter(block -> TortureJournal.number(block.key()) % HANDS == hand).toList());
    }
    return shares;
  }
}
