package io.penstock.disagg.request;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.check.Checks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32C;

/// Data that the prefill side found in addition to the blocks of a request. It travels with the id of the request,
/// under a checksum, so that it never reaches another request.
///
/// @param firstToken the token that the prefill side sampled
/// @param logProbabilities of that token and of those next to it; may be empty
/// @param cachedTokens tokens of the prompt that the prefill side did not have to compute
/// @param crc CRC32C of the other fields
public record AuxData(String request, int firstToken, List<Double> logProbabilities, int cachedTokens, int crc) {
  public AuxData {
    Checks.notNegative("cachedTokens", cachedTokens);
    logProbabilities = List.copyOf(logProbabilities);
  }

  /// Aux data with their checksum.
  public static AuxData of(String request, int firstToken, List<Double> logProbabilities, int cachedTokens) {
    return new AuxData(request, firstToken, logProbabilities, cachedTokens,
        crc(request, firstToken, logProbabilities, cachedTokens));
  }

  private static int crc(String request, int firstToken, List<Double> logProbabilities, int cachedTokens) {
    byte[] name = request.getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.allocate(name.length + (3 + 2 * logProbabilities.size()) * Integer.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN).putInt(name.length).put(name).putInt(firstToken).putInt(cachedTokens);
    logProbabilities.forEach(bytes::putDouble);
    CRC32C crc = new CRC32C();
    crc.update(bytes.flip());
    return (int) crc.getValue();
  }

  /// These data, if they are those of `wanted` and intact.
  ///
  /// @throws AuxMismatchException if they are not
  public AuxData requireOf(String wanted) {
    int actual = crc(request, firstToken, logProbabilities, cachedTokens);
    if (crc != actual) {
      throw new AuxMismatchException("CRC32C of aux data must be %08x (was %08x)".formatted(crc, actual));
    } else if (!request.equals(wanted)) {
      throw new AuxMismatchException("aux data must be those of request " + wanted + " (were of " + request + ")");
    }
    return this;
  }

  /// Aux data were damaged, or those of another request.
  public static final class AuxMismatchException extends TransientKvException {
    AuxMismatchException(String message) {
      super(message);
    }
  }

  /// No source sent the aux data that a request waited for.
  public static final class AuxMissingException extends PermanentKvException {
    AuxMissingException(String request) {
      super("aux data must come with a shard of request " + request + " (did not)");
    }
  }
}
