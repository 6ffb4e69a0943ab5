/// The dialects of engines: how one request becomes legs at a prefill and a decode instance, and one answer. Each
/// dialect names the proxy or the connector whose rules it follows; `docs/dialects.md` has the table.
@NullMarked
package io.penstock.gateway.dialect;

import org.jspecify.annotations.NullMarked;
