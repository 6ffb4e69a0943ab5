package io.penstock.storage.rivals;

import io.penstock.storage.EngineKind;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// The rivals.
enum RivalKind {
  /// A `JournalStore` on Chronicle Queue.
  CHRONICLE {
    @Override
    Rival open(Path directory, Contest contest) {
      return new StoreRival(EngineKind.CHRONICLE, directory, contest);
    }
  },
  /// A `JournalStore` on plain files.
  PLAIN {
    @Override
    Rival open(Path directory, Contest contest) {
      return new StoreRival(EngineKind.PLAIN, directory, contest);
    }
  },
  /// The engine on Chronicle Queue without the store: one thread, no checkpoint, no index.
  ENGINE {
    @Override
    Rival open(Path directory, Contest contest) {
      return new EngineRival(directory, contest);
    }
  },
  /// One file: a gathering write a block behind a head with its checksums; a copy from a mapping.
  MAPPED_FILE {
    @Override
    Rival open(Path directory, Contest contest) {
      return new FileRival(directory, contest, true);
    }
  },
  /// The same file, with positioned reads.
  FILE {
    @Override
    Rival open(Path directory, Contest contest) {
      return new FileRival(directory, contest, false);
    }
  },
  /// RocksDB's blob files, and its own checksums compared as it does by itself, before those of the block are.
  ROCKSDB {
    @Override
    Rival open(Path directory, Contest contest) {
      return new RocksRival(directory, contest, true);
    }
  },
  /// The same without its own checksums compared, so that every byte is compared once, as with all others.
  ROCKSDB_UNCHECKED {
    @Override
    Rival open(Path directory, Contest contest) {
      return new RocksRival(directory, contest, false);
    }
  };

  static final List<RivalKind> APPENDING = List.of(CHRONICLE, PLAIN, ENGINE, FILE, ROCKSDB);
  static final List<RivalKind> READING =
      List.of(CHRONICLE, PLAIN, ENGINE, MAPPED_FILE, FILE, ROCKSDB, ROCKSDB_UNCHECKED);
  static final List<RivalKind> READING_COLD = List.of(CHRONICLE, PLAIN, MAPPED_FILE, FILE);

  abstract Rival open(Path directory, Contest contest);

  /// As it is called in tables.
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
