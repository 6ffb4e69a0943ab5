package io.penstock.storage.rivals;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.storage.disk.SyncMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.ChecksumType;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import reactor.core.publisher.Mono;

/// RocksDB with its values in blob files, nothing compressed, and no cache but the system's. What arrives is compared
/// with the checksums of its granules, as with all others. A put that completed survives the end of the process, as
/// with all others: so there is its log.
final class RocksRival implements Rival {
  static {
    RocksDB.loadLibrary();
  }

  private final Options options = new Options();
  private final WriteOptions writing = new WriteOptions();
  private final ReadOptions reading = new ReadOptions();
  private final RocksDB db;
  private final SyncPoints syncs;
  private final GranuleRange all;
  private final ByteBuffer key = ByteBuffer.allocateDirect(Long.BYTES);
  private final List<int[]> checksums = new ArrayList<>();
  private long puts;

  RocksRival(Path directory, Contest contest, boolean checked) {
    reading.setVerifyChecksums(checked);
    this.all = GranuleRange.all(contest.space().layout());
    options.setCreateIfMissing(true)
        .setEnableBlobFiles(true).setMinBlobSize(0).setBlobFileSize(256L << 20)
        .setBlobCompressionType(CompressionType.NO_COMPRESSION)
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setWriteBufferSize(64 << 20).setMaxWriteBufferNumber(4)
        .setTableFormatConfig(new BlockBasedTableConfig().setChecksumType(ChecksumType.kCRC32c));
    writing.setSync(contest.rule().mode() == SyncMode.ALWAYS);
    try {
      Files.createDirectories(directory);
      db = RocksDB.open(options, directory.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
    this.syncs = new SyncPoints(
        contest.rule().mode() == SyncMode.ALWAYS ? contest.rule().withMode(SyncMode.NONE) : contest.rule(),
        this::force);
  }

  private void force() {
    try {
      db.syncWal();
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean hasThreads() {
    return false;
  }

  @Override
  public Mono<Void> put(List<Block> batch) {
    return Mono.fromRunnable(() -> {
      long bytes = (long) batch.size() * all.bytes(batch.getFirst().layout());
      syncs.admit(bytes);
      try (WriteBatch whole = new WriteBatch()) {
        for (Block block : batch) {
          block.verify("rocksdb");
          checksums.add(Sums.of(block));
          block.read(payload -> add(whole, payload.asByteBuffer()));
        }
        db.write(writing, whole);
      } catch (RocksDBException e) {
        throw new IllegalStateException(e);
      }
      syncs.appended(bytes);
    });
  }

  private int add(WriteBatch batch, ByteBuffer value) {
    try {
      batch.put(key.clear().putLong(puts++).flip(), value);
      return value.remaining();
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Memory tables are written to files, and those are in the order that RocksDB wants.
  @Override
  public void written() {
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      db.flush(flush);
      db.compactRange();
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Mono<Void> read(int[] numbers, List<BlockDraft> drafts) {
    return Mono.fromRunnable(() -> {
      ByteBuffer wanted = ByteBuffer.allocateDirect(Long.BYTES);
      for (int i = 0; i < numbers.length; i++) {
        wanted.clear().putLong(numbers[i]).flip();
        drafts.get(i).write(all, memory -> get(wanted, memory.asByteBuffer()));
        drafts.get(i).verify(all, checksums.get(numbers[i]), "rocksdb");
      }
    });
  }

  private void get(ByteBuffer wanted, ByteBuffer into) {
    int room = into.remaining();
    try {
      int found = db.get(reading, wanted, into);
      if (found != room) {
        throw new IllegalStateException("value must have " + room + " bytes (was " + found + ")");
      }
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    syncs.close();
    db.close();
    reading.close();
    writing.close();
    options.close();
  }
}
