package io.penstock.storage.rivals;

import io.penstock.storage.EngineKind;
import java.nio.file.Path;

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
  /// The engine on Chronicle Queue without the store: one thread, no checkpoint, no books.
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
  /// RocksDB's blob files.
  ROCKSDB {
    @Override
    Rival open(Path directory, Contest contest) {
      return new RocksRival(directory, contest);
    }
  };

  abstract Rival open(Path directory, Contest contest);

  /// As it is called in tables.
  String label() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
  }
}
