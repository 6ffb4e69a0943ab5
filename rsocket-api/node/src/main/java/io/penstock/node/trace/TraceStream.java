package io.penstock.node.trace;

import io.penstock.node.cli.DataException;
import io.penstock.node.cli.InputFile;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.ZipException;

/// The bytes of a trace, unpacked. Whether they are packed is known from their first bytes, whatever the name says.
final class TraceStream {
  private static final int BUFFER_BYTES = 64 << 10;
  private static final byte[] GZIP = {0x1f, (byte) 0x8b};
  private static final byte[] ZSTD = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd};
  private static final byte[] PARQUET = {'P', 'A', 'R', '1'};

  private TraceStream() {}

  /// Opens a file.
  ///
  /// @throws FileSystemException if it cannot be read, or is not packed though its name says so
  static InputStream open(Path file) throws IOException {
    InputStream in = Files.newInputStream(InputFile.of(file.toString()));
    try {
      BufferedInputStream buffered = new BufferedInputStream(in, BUFFER_BYTES);
      if (file.toString().toLowerCase(Locale.ROOT).endsWith(".gz") && !begins(buffered, GZIP)) {
        throw new FileSystemException(file.toString(), null, "not packed with gzip, as its name says");
      }
      return unpacked(file.toString(), buffered);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /// @param name of `in` in errors
  static InputStream unpacked(String name, InputStream in) throws IOException {
    BufferedInputStream buffered =
        in instanceof BufferedInputStream already ? already : new BufferedInputStream(in, BUFFER_BYTES);
    if (begins(buffered, GZIP)) {
      try {
        return GzipMembers.of(buffered, BUFFER_BYTES);
      } catch (ZipException e) {
        throw new DataException(name + " must be text or gzip (was damaged: " + e.getMessage() + ")", e);
      }
    }
    refuse(name, "zstd", "zstd -dc FILE | penstock … -", begins(buffered, ZSTD));
    refuse(name, "Parquet", "export it as JSON Lines", begins(buffered, PARQUET));
    return buffered;
  }

  private static void refuse(String name, String form, String remedy, boolean isOfIt) {
    if (isOfIt) {
      throw new DataException("%s must be text or gzip (was %s; %s)".formatted(name, form, remedy));
    }
  }

  private static boolean begins(BufferedInputStream in, byte[] magic) throws IOException {
    in.mark(magic.length);
    byte[] first = in.readNBytes(magic.length);
    in.reset();
    return Arrays.equals(first, magic);
  }
}
