package io.penstock.s3.object;

import io.penstock.block.BlockHash;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Tags of objects (`ETag`): the version of the value. They look like those of uploads in parts, so that no client
/// takes one for the MD5 of the object.
final class ObjectTag {
  private static final String END = "-1";

  private ObjectTag() {}

  static String of(BlockHash version) {
    return "\"" + version + END + "\"";
  }

  /// Whether a header such as `If-Match` names the tag of `version`.
  static boolean matches(String header, @Nullable BlockHash version) {
    if (version == null) {
      return false;
    }
    for (String each : header.split(",", -1)) {
      String one = each.strip();
      if (one.equals("*") || isOf(one, version)) {
        return true;
      }
    }
    return false;
  }

  /// Whether a header such as `If-None-Match` names every object.
  static boolean isAny(@Nullable String header) {
    return header != null && Stream.of(header.split(",", -1)).anyMatch(each -> each.strip().equals("*"));
  }

  /// Whether `tag`, with or without its quotation marks, is that of `version`.
  static boolean isOf(@Nullable String tag, BlockHash version) {
    return tag != null && tag.strip().replace("\"", "").equals(version + END);
  }
}
