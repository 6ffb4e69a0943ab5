/// Where blocks lie in the segments, and how an opening finds it out.
package io.penstock.storage.index;
