package io.penstock.s3.request;

import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// What a request is about.
///
/// @param bucket empty for the service as a whole
/// @param key name of the key, as [KeyBytes] has it; empty for the bucket as a whole
/// @param rawPath as it came
/// @param path encoded as signatures have it
public record Target(String bucket, String key, String rawPath, String path, Query query) {
  private static final int MOST_KEY = 1024;
  /// Bytes of the name of a value, without the longest prefix.
  private static final int MOST_NAME = 2048 - 64;
  private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,254}");

  /// Reads it.
  ///
  /// @param uri of the request line
  /// @param host header of this name, perhaps with a port
  /// @param domains whose subdomains are buckets
  /// @throws S3Exception if it is not of its form
  public static Target parse(String uri, String host, List<String> domains) {
    int mark = uri.indexOf('?');
    String raw = pathOf(mark < 0 ? uri : uri.substring(0, mark));
    Query query = Query.parse(mark < 0 ? "" : uri.substring(mark + 1));
    byte[] path = Percent.decode(raw, false);
    if (path.length == 0 || path[0] != '/') {
      throw new S3Exception(S3Code.INVALID_ARGUMENT, "path must begin with a slash (did not)");
    }
    String bucket = bucketOf(host, domains);
    int start = 1;
    if (bucket.isEmpty()) {
      int slash = start;
      while (slash < path.length && path[slash] != '/') {
        slash++;
      }
      bucket = KeyBytes.name(Arrays.copyOfRange(path, start, slash));
      start = Math.min(slash + 1, path.length);
    }
    if (!bucket.isEmpty() && !BUCKET.matcher(bucket).matches()) {
      throw new S3Exception(S3Code.INVALID_BUCKET_NAME,
          "bucket must be 1 to 255 letters, digits and ._- , a letter or digit first (was "
              + bucket + ")");
    }
    byte[] key = Arrays.copyOfRange(path, start, path.length);
    if (key.length > MOST_KEY) {
      throw new S3Exception(S3Code.KEY_TOO_LONG, "key must be <= " + MOST_KEY + " bytes (was " + key.length + ")");
    }
    String name = KeyBytes.name(key);
    if (bucket.length() + 1 + name.getBytes(StandardCharsets.UTF_8).length > MOST_NAME) {
      throw new S3Exception(S3Code.KEY_TOO_LONG,
          "key must be shorter, since it is no text (was " + key.length + " bytes)");
    }
    return new Target(bucket, name, raw, Percent.encode(path, true), query);
  }

  /// Some clients name the whole address.
  private static String pathOf(String uri) {
    if (uri.startsWith("http://") || uri.startsWith("https://")) {
      int slash = uri.indexOf('/', uri.indexOf("://") + 3);
      return slash < 0 ? "/" : uri.substring(slash);
    }
    return uri;
  }

  private static String bucketOf(String host, List<String> domains) {
    int colon = host.lastIndexOf(':');
    String name = (colon < 0 || host.endsWith("]") ? host : host.substring(0, colon)).toLowerCase(Locale.ROOT);
    for (String domain : domains) {
      if (name.length() > domain.length() + 1 && name.endsWith("." + domain)) {
        return name.substring(0, name.length() - domain.length() - 1);
      }
    }
    return "";
  }

  /// Whether it is about an object.
  public boolean isObject() {
    return !bucket.isEmpty() && !key.isEmpty();
  }
}
