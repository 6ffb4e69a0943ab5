package io.penstock.storage.engine;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// How an engine lays records into a file: for those who look after files without the engine. `FORMAT.md` describes it.
public sealed interface Frames permits PlainFrames, ChronicleFrames {
  /// Those of the engine that is called so; null if it has none.
  static @Nullable Frames of(String engine) {
    return switch (engine) {
      case PlainEngine.NAME -> new PlainFrames();
      case ChronicleEngine.NAME -> new ChronicleFrames();
      default -> null;
    };
  }

  /// Name of the engine.
  String engine();

  /// Number of the segment whose file is called so; 0 if it is none.
  int segment(Path file);

  /// Whether segments lie in `folder` of the journal; empty is the journal's own.
  boolean isHome(String folder);

  /// Bytes of a frame, before its record.
  int bytes();

  /// Frames begin at multiples of this.
  int alignment();

  /// Where the first frame begins.
  int start();

  /// Whether a frame that is whole vouches for its own length.
  boolean isChecked();

  /// Whether zeros may follow the last record: space that was reserved.
  boolean isReserved();

  /// Zeros that a writer leaves behind the last record, with what ends a segment in them. What follows may be of the
  /// file's earlier life.
  int zerosBehind();

  /// Whether what stands before the first frame is whole.
  ///
  /// @throws JournalFormatException if its version is not known
  boolean hasHead(SegmentWindow file, int segment);

  /// What stands before the first frame of a segment; empty if nothing does.
  ByteBuffer head(int segment, long capacity);

  /// The frame at `at`, inside the file.
  Frame at(SegmentWindow file, int segment, long at);

  /// A frame before a record of `length` bytes at `record`.
  ByteBuffer frame(int segment, long record, int length);

  /// Where the frame behind one that ends at `end` begins.
  default long next(long end) {
    return (end + alignment() - 1) & -alignment();
  }
}
