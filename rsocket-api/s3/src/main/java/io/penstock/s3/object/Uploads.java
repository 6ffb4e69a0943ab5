package io.penstock.s3.object;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockHash;
import io.penstock.node.door.DoorValues;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Uploads in parts that have begun. Each part is a value of its own until the upload completes. Safe from any thread.
final class Uploads {
  /// Before the names of parts; no bucket begins so.
  static final String PREFIX = "\u0000upload/";
  private static final int ID_BYTES = 16;

  private final InstantSource clock;
  private final Duration life;
  private final int most;
  private final SecureRandom random = new SecureRandom();
  @GuardedBy("this") private final Map<String, Upload> open = new HashMap<>();

  /// @param life after which an upload that did not end is given up
  /// @param most uploads at a time
  Uploads(InstantSource clock, Duration life, int most) {
    this.clock = clock;
    this.life = life;
    this.most = most;
  }

  /// An upload.
  static final class Upload {
    final String id;
    final String name;
    final DoorValues values;
    final Instant began;
    private final Instant ends;
    @GuardedBy("this") private final TreeMap<Integer, Part> parts = new TreeMap<>();
    @GuardedBy("this") private int sent;

    Upload(String id, String name, DoorValues values, Instant began, Duration life) {
      this.id = id;
      this.name = name;
      this.values = values;
      this.began = began;
      this.ends = began.plus(life);
    }

    /// A name for the value of a part; each attempt has its own.
    synchronized String nameOf(int number) {
      return PREFIX + id + "/" + number + "/" + sent++;
    }

    /// @return the part of the same number that this one replaces
    synchronized @Nullable Part add(int number, Part part) {
      return parts.put(number, part);
    }

    synchronized @Nullable Part part(int number) {
      return parts.get(number);
    }

    synchronized Map<Integer, Part> parts() {
      return new TreeMap<>(parts);
    }
  }

  /// A part that came.
  ///
  /// @param value name of its value
  /// @param version that its tag has
  /// @param isStored false if it was dropped
  record Part(String value, long length, BlockHash version, boolean isStored) {}

  synchronized Upload begin(String name, DoorValues values) {
    if (open.size() >= most) {
      throw new S3Exception(S3Code.SLOW_DOWN, "uploads that have begun must be <= " + most + " (were more)");
    }
    byte[] id = new byte[ID_BYTES];
    random.nextBytes(id);
    Upload upload = new Upload(HexFormat.of().formatHex(id), name, values, clock.instant(), life);
    open.put(upload.id, upload);
    return upload;
  }

  /// @throws S3Exception if there is no such upload of the object
  synchronized Upload get(String id, String name) {
    Upload upload = open.get(id);
    if (upload == null || !upload.name.equals(name)) {
      throw new S3Exception(S3Code.NO_SUCH_UPLOAD, "uploadId must be that of an upload of the object (is not)");
    }
    return upload;
  }

  synchronized boolean has(Upload upload) {
    return open.containsKey(upload.id);
  }

  /// All uploads, in no order.
  synchronized List<Upload> all() {
    return new ArrayList<>(open.values());
  }

  /// Ends an upload; false if another ended it first.
  synchronized boolean end(Upload upload) {
    return open.remove(upload.id) != null;
  }

  /// Ends the uploads whose life is over, or all.
  synchronized List<Upload> endOld(boolean all) {
    Instant now = clock.instant();
    List<Upload> old = new ArrayList<>(open.values());
    old.removeIf(each -> !all && each.ends.isAfter(now));
    old.forEach(each -> open.remove(each.id));
    return old;
  }
}
