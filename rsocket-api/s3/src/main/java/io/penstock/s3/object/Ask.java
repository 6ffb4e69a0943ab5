package io.penstock.s3.object;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.penstock.node.door.DoorUses;
import io.penstock.node.door.DoorValues;
import io.penstock.s3.request.Target;

/// A request that was let in.
///
/// @param prefix of the names of its user
/// @param values of the space of its user and bucket
/// @param use counts for its user
record Ask(HttpMethod method, HttpHeaders headers, Target target, String prefix, DoorValues values,
    DoorUses.Use use) {
  /// Name of the value of the object.
  String name() {
    return nameOf(target.key());
  }

  /// Name of the value of another object of the bucket.
  String nameOf(String key) {
    return prefix + target.bucket() + "/" + key;
  }

  boolean has(String parameter) {
    return target.query().has(parameter);
  }
}
