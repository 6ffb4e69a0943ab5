package io.penstock.s3.object;

import io.penstock.s3.object.Uploads.Upload;
import io.penstock.s3.reply.Documents;
import io.penstock.s3.request.Query;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One page of a list of uploads in parts that have begun, by key and then by id.
final class UploadPage {
  private static final int PAGE = 1000;

  private final Ask ask;
  private final String bucket;
  private final String prefix;
  private final String delimiter;
  private final boolean isEncoded;
  private final int most;
  private final String keyMarker;
  private final String idMarker;
  private final List<Documents.UploadEntry> entries = new ArrayList<>();
  private final List<Documents.Prefix> prefixes = new ArrayList<>();
  /// The last key or common prefix of the page, and the id of its upload, if it is a key.
  private String last;
  private @Nullable String lastId;
  private boolean hasMore;

  private UploadPage(Ask ask) {
    this.ask = ask;
    Query query = ask.target().query();
    bucket = ask.nameOf("");
    prefix = query.get("prefix", "");
    delimiter = query.get("delimiter", "");
    isEncoded = Listing.isEncoded(ask);
    most = Listing.number(ask, "max-uploads", PAGE, PAGE);
    keyMarker = query.get("key-marker", "");
    idMarker = query.get("upload-id-marker", "");
    last = keyMarker;
  }

  /// @param uploads of all users and spaces
  static Documents.UploadList of(Ask ask, List<Upload> uploads) {
    UploadPage page = new UploadPage(ask);
    uploads.stream().filter(page::isListed)
        .sorted(Comparator.comparing((Upload upload) -> upload.name).thenComparing(upload -> upload.id))
        .takeWhile(upload -> !page.hasMore).forEach(page::add);
    return page.document();
  }

  private String key(Upload upload) {
    return upload.name.substring(bucket.length());
  }

  /// Whether an upload is of the user and the bucket, has the prefix and comes behind the page before.
  private boolean isListed(Upload upload) {
    if (most == 0 || !upload.values.equals(ask.values()) || !upload.name.startsWith(bucket + prefix)) {
      return false;
    }
    int order = key(upload).compareTo(keyMarker);
    return order > 0 || (order == 0 && !idMarker.isEmpty() && upload.id.compareTo(idMarker) > 0);
  }

  private void add(Upload upload) {
    String key = key(upload);
    int end = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
    String common = end < 0 ? null : key.substring(0, end + delimiter.length());
    if (common != null && common.equals(last)) {
      return;
    }
    hasMore = entries.size() + prefixes.size() == most;
    if (hasMore) {
      return;
    }
    if (common == null) {
      entries.add(new Documents.UploadEntry(shown(key), upload.id, "STANDARD", Documents.time(upload.began)));
    } else {
      prefixes.add(new Documents.Prefix(shown(common)));
    }
    last = common == null ? key : common;
    lastId = common == null ? upload.id : null;
  }

  private String shown(String key) {
    return Listing.shown(key, isEncoded);
  }

  private Documents.UploadList document() {
    return new Documents.UploadList(ask.target().bucket(), shown(keyMarker), Documents.carried(idMarker),
        hasMore ? shown(last) : null, hasMore ? lastId : null, shown(prefix),
        delimiter.isEmpty() ? null : shown(delimiter), isEncoded ? "url" : null, most, hasMore, entries, prefixes);
  }
}
