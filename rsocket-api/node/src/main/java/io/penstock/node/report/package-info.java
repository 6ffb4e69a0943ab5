/// A page that people look at: one file of HTML that holds its charts, their data and their scripts, and loads nothing.
///
/// [io.penstock.node.report.ReportPage] builds it from a summary and the data of a run; `page.js` beside it draws the
/// charts. All content of a run is escaped, and the page's own security policy names its scripts by their digests, so
/// that no other could run.
@NullMarked
package io.penstock.node.report;

import org.jspecify.annotations.NullMarked;
